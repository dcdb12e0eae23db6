import { type StoredItem, readDecimal, readInteger, readString } from '../ledger/attributes.ts';
import { ledgerAccount, netChanges, readEntry } from '../ledger/entry.ts';
import { type AccountRef, PREFIX, balanceKey, partition } from '../ledger/keys.ts';
import type { Decimal } from '../ledger/money.ts';
import type { Store } from '../ledger/store.ts';
import { BACKFILL_ACTOR } from './move.ts';

/** One movement of one balance, wherever it is told of. */
export interface Movement {
  readonly uuid: string;
  /** The balance's sort key in the new shape. */
  readonly type: string;
  readonly atMs: number;
  readonly kind: string;
  readonly amount: Decimal;
}

/** The old history's rows: `HISTORY#{time}#{kind}#{asset}`, the time in 15 digits so that they sort by it. */
export const HISTORY_PREFIX = 'HISTORY#';

/** The movements of an entry. An opening entry has none: what it books was moved, and told of, before. */
export function movementsOf(item: StoredItem): readonly Movement[] {
  const entry = readEntry(item);
  if (entry.actor === BACKFILL_ACTOR) return [];
  return netChanges(entry, ledgerAccount.wallet(entry.accountId)).map(({ asset, net }) => ({
    ...balanceKey({ ...entry, asset }),
    atMs: entry.atMs,
    kind: entry.operation,
    amount: net,
  }));
}

export function readHistoryRow(item: StoredItem): Movement {
  const [tenant = '', accountId = ''] = readString(item, 'uuid').split('#');
  return {
    ...balanceKey({ tenant, accountId, asset: readString(item, 'asset') }),
    atMs: readInteger(item, 'at'),
    kind: readString(item, 'kind'),
    amount: readDecimal(item, 'amount'),
  };
}

/** Both histories as one, newest first and of one moment by kind. What both tell of, by balance, time and kind, is told once, as the entry has it. */
export function mergeHistories(
  rows: readonly Movement[],
  movements: readonly Movement[],
): readonly Movement[] {
  const merged = new Map<string, Movement>();
  for (const movement of [...rows, ...movements]) {
    merged.set([movement.uuid, movement.type, movement.atMs, movement.kind].join('\n'), movement);
  }
  return [...merged.values()].sort(newestFirst);
}

function newestFirst(one: Movement, other: Movement): number {
  return one.atMs === other.atMs ? one.kind.localeCompare(other.kind) : other.atMs - one.atMs;
}

/** The newest movements of an account's balances while old and new history both exist. */
export async function readHistory(
  store: Store,
  { tenant, accountId }: AccountRef,
  limit: number,
): Promise<readonly Movement[]> {
  const newest = { uuid: partition(tenant, accountId), limit, newestFirst: true };
  const [rows, entries] = await Promise.all([
    store.query({ ...newest, prefix: HISTORY_PREFIX }),
    store.query({ ...newest, prefix: PREFIX.entry }),
  ]);
  return mergeHistories(rows.map(readHistoryRow), entries.flatMap(movementsOf)).slice(0, limit);
}
