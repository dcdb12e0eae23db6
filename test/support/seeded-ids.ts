import { createHash } from 'node:crypto';
import type { Ids } from '../../src/ledger/kernel/ids.ts';

const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function base32(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) {
    text = (BASE32[rest % 32] ?? '0') + text;
  }
  return text;
}

/**
 * Ids that a seed decides, so that a run can be played again to the byte. Tokens also depend on the table's name: an
 * engine remembers them across its tables, and a token that it has seen with another transaction is an error.
 */
export function seededIds(seed: number, tableName: string): Ids {
  let ulids = 0;
  let tokens = 0;
  let state = seed >>> 0;
  return {
    ulid: (nowMs) => base32(nowMs, 10) + base32(seed % 1_024, 2) + base32((ulids += 1), 14),
    token: () =>
      createHash('sha256')
        .update(`${tableName} ${String(seed)} ${String((tokens += 1))}`)
        .digest('hex')
        .slice(0, 36),
    fraction: () => {
      // A linear congruential generator: jitter needs no better.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    },
  };
}
