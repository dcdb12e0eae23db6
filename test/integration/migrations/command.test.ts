import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../../src/ledger/clock.ts';
import { auditTable } from '../../../src/ledger/operations/audit-ledger.ts';
import { GOD_RECORD } from '../../../src/migrations/god-record/migration.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { type LegacyAccount, legacyCustomers, seedLegacy } from '../../support/legacy-records.ts';
import { step, toolkitOf } from '../../support/migrating-fleet.ts';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

let harness: Harness;
let accounts: readonly LegacyAccount[];
const running = new Set<ChildProcess>();

beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  const { transactor, ids } = harness.ledger;
  accounts = legacyCustomers({ count: 60, seed: 3, atMs: systemClock.nowMs() });
  await seedLegacy(transactor, ids, accounts);
});
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  harness.close();
});

function start(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/migrate.ts', ...args], {
    env: {
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      DYNAMODB_ENDPOINT: inject('engineEndpoint'),
      TABLE_NAME: harness.tableName,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  return child;
}

async function run(...args: readonly string[]): Promise<Ended> {
  const child = start(...args);
  if (child.stdout === null || child.stderr === null) throw new Error('no output');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  running.delete(child);
  return { out, err, code: child.exitCode };
}

async function whenMoved(atLeast: number): Promise<void> {
  let moved: number;
  do {
    moved = 0;
    const { items } = await harness.ledger.store.scan(0, 1, undefined);
    for (const item of items) if ('moved_at' in item) moved += 1;
  } while (moved < atLeast);
}

describe('npm run migrate', { timeout: 120_000 }, () => {
  it('refuses in words and by its exit code, and changes nothing in a dry run', async () => {
    const [asked, dry] = await Promise.all([
      run('forward', 'god-record'),
      run('advance', 'god-record', '--dry-run', '--json'),
    ]);
    expect(asked.code).toBe(2);
    expect(asked.err).toContain('list | status | advance | back | backfill | verify');
    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.out)).toEqual({
      ok: true,
      command: 'advance',
      id: 'god-record',
      result: { kind: 'READY', to: 'off' },
    });
    const refused = await run('backfill', 'god-record');
    expect(refused).toMatchObject({ code: 1, out: 'god-record: refused.\n  - It has not begun.\n' });
  });

  it('goes on after a kill in the middle of a backfill, and moves each record exactly once', async () => {
    const toolkit = toolkitOf(harness);
    for (const phase of ['off', 'expand', 'backfill']) {
      expect(await step(toolkit, GOD_RECORD, 'FORWARD', [])).toBe(phase);
    }
    const killed = start('backfill', 'god-record', '--segments', '2', '--units-per-second', '60');
    await whenMoved(5);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(await run('advance', 'god-record')).toMatchObject({ code: 1 });
    const resumed = await run('backfill', 'god-record', '--json', '--units-per-second', '100000');
    expect(JSON.parse(resumed.out)).toMatchObject({
      ok: true,
      result: { kind: 'FINISHED', resumed: true, left: 0 },
    });
    const again = await run('backfill', 'god-record', '--json', '--units-per-second', '100000');
    expect(JSON.parse(again.out)).toMatchObject({ ok: true, result: { resumed: false, handled: 0 } });

    for (const { tenant, accountId, amounts } of accounts) {
      for (const asset of ['ECOPAY', 'POINT', 'JCREDIT']) {
        expect(Number(await harness.balance(tenant, accountId, asset))).toBe(Number(amounts[asset] ?? '0'));
      }
      const openings = await harness.entries(tenant, accountId);
      const expected = Object.values(amounts).some((amount) => Number(amount) !== 0) ? 1 : 0;
      expect(openings).toHaveLength(expected);
    }
    const { store } = harness.ledger;
    expect(await auditTable(store, { segments: 1, wait: () => Promise.resolve() })).toMatchObject({
      problems: [],
    });
    const verified = await run('verify', 'god-record');
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.out).toContain('60 records, 0 unmoved, 0 differences');
  });
});
