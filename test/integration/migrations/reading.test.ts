import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { systemClock } from '../../../src/ledger/kernel/clock.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { type Store, TableUnavailableError } from '../../../src/ledger/table/store.ts';
import { backfill } from '../../../src/migrations/backfill.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { readAlongMigrations } from '../../../src/migrations/migrating-table.ts';
import { putHeartbeat } from '../../../src/migrations/state.ts';
import { type MigrateCommand, migrateCommand } from '../../support/migrate-command.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Harness, admin, makeHarness } from '../../support/harness.ts';
import {
  type LegacyAccount,
  legacyCustomers,
  legacyHistoryRow,
  seedLegacy,
} from '../../support/legacy-records.ts';
import { startGateway, step, toolkitOf } from '../../support/migrating-fleet.ts';

/** Commands that only read, beside a migration that has moved one record, and not yet another. */

let harness: Harness;
let proxy: FaultProxy;
let migrate: MigrateCommand;
let moved: LegacyAccount;
let unmoved: LegacyAccount;
const atMs = systemClock.nowMs();

beforeAll(async () => {
  const endpoint = inject('engineEndpoint');
  proxy = await startFaultProxy({ target: endpoint });
  harness = await makeHarness({ endpoint, clock: { ...systemClock, advance: () => undefined } });
  migrate = migrateCommand({ endpoint, tableName: harness.tableName });
  const { ledger, key } = harness;
  const [, , , , first, second] = legacyCustomers({ count: 6, seed: 21, atMs });
  if (first === undefined || second === undefined) throw new Error('six accounts');
  [moved, unmoved] = [first, second];
  const row = { kind: 'ADJUSTMENT', asset: 'POINT' };
  const rows = [
    legacyHistoryRow(moved, { ...row, atMs: atMs - 2_000, amount: '40' }),
    legacyHistoryRow(moved, { ...row, atMs: atMs - 1_000, amount: '-3' }),
  ];
  await seedLegacy(ledger.transactor, ledger.ids, [moved, { items: rows }]);
  const toolkit = toolkitOf(harness);
  await step(toolkit, GOD_RECORD, 'FORWARD', []);
  await step(toolkit, GOD_RECORD, 'FORWARD', []);
  const gateway = await startGateway(harness);
  const input = { accountId: moved.accountId, asset: 'POINT', amount: '5', reason: 'campaign' };
  expect(await adjustBalance(gateway.ledger, admin('demo'), key(), input)).toMatchObject({
    kind: 'AdjustBalanceSuccess',
  });
  // A release that kept both histories told of it in the old one too.
  const [entry] = await harness.entries('demo', moved.accountId);
  const again = legacyHistoryRow(moved, { ...row, atMs: entry?.atMs ?? 0, amount: '5' });
  await ledger.transactor.commit(plan(ledger.ids.token(), { items: [again] }));
  await gateway.view.stop();
  await step(toolkit, GOD_RECORD, 'FORWARD', []);
  await backfill(toolkit, GOD_RECORD, { segments: 1 });
  await seedLegacy(ledger.transactor, ledger.ids, [unmoved]);
  const late = await startGateway(harness);
  const more = { ...input, accountId: unmoved.accountId };
  expect(await adjustBalance(late.ledger, admin('demo'), key(), more)).toMatchObject({
    kind: 'AdjustBalanceSuccess',
  });
  await late.view.stop();
});
afterAll(async () => {
  migrate.stop();
  harness.close();
  await proxy.stop();
});

type Ran = Promise<{ readonly code: number; readonly output: string }>;

function show(...words: readonly string[]): Ran {
  return run('show', words);
}

function run(command: string, words: readonly string[]): Ran {
  const env = {
    DYNAMODB_ENDPOINT: proxy.endpoint,
    TABLE_NAME: harness.tableName,
    LOG_LEVEL: 'silent',
  };
  const args = ['--import', 'tsx', `src/cli/${command}.ts`, ...words];
  const cwd = join(import.meta.dirname, '..', '..', '..');
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, cwd }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
    });
  });
}

function printedBalance({ amounts }: LegacyAccount, asset: string, more = 0): string {
  return String(Number(amounts[asset] ?? '0') + more);
}

it(
  'show leaves no heartbeat, is none of the fleet, and sends nothing but reads',
  { timeout: 60_000 },
  async () => {
    proxy.resetCounts();
    proxy.next({ operation: 'BatchGetItem', fault: { kind: 'HOLD' } });
    const shown = show(`demo#${unmoved.accountId}`);
    await proxy.whenHeld(1);
    const status = await migrate.run('status', '--json');
    expect(JSON.parse(status.out)).toMatchObject({ ok: true, fleet: [] });
    await proxy.release();
    const { code, output } = await shown;
    expect(code).toBe(0);
    expect(output).toContain(`  ECOPAY  ${printedBalance(unmoved, 'ECOPAY')}\n`);
    expect(proxy.seen()).toBeGreaterThan(2);
    expect(proxy.seen('BatchGetItem') + proxy.seen('Query')).toBe(proxy.seen());
  },
);

it(
  'audit asks of a record that has not moved what it may, and finds nothing wrong',
  { timeout: 60_000 },
  async () => {
    proxy.resetCounts();
    const { code, output } = await run('audit', ['--json']);
    expect(JSON.parse(output)).toMatchObject({ problems: [], unsettled: [] });
    expect(code).toBe(0);
    expect(proxy.seen('TransactWriteItems')).toBe(0);
  },
);

it('show tells of old and new history as one, each movement once', { timeout: 60_000 }, async () => {
  const account = `demo#${moved.accountId}`;
  const [json, plain] = await Promise.all([show(account, '--json'), show(account)]);
  const shown = JSON.parse(json.output) as {
    balances: unknown[];
    movements: { at: string; asset: string; amount: string; kind: string; item: string }[];
  };
  expect(shown.balances).toContainEqual({ asset: 'POINT', amount: printedBalance(moved, 'POINT', 5) });
  expect(
    shown.movements.map(({ asset, amount, kind, item }) => [asset, amount, kind, item.split('#')[0]]),
  ).toEqual([
    ['POINT', '5', 'ADJUSTMENT', 'ENTRY'],
    ['POINT', '-3', 'ADJUSTMENT', 'HISTORY'],
    ['POINT', '40', 'ADJUSTMENT', 'HISTORY'],
  ]);
  const before = new Date(atMs - 2_000).toISOString();
  expect(plain.output).toContain('latest movements\n');
  expect(plain.output).toMatch(
    new RegExp(
      `  ${before.replaceAll('.', '\\.')}  40 POINT  ADJUSTMENT  HISTORY#\\d{15}#ADJUSTMENT#POINT\n`,
    ),
  );
});

it('what only reads sees either shape in each phase, and never writes', async () => {
  const { store } = harness.ledger;
  let nowMs = systemClock.nowMs();
  const table = readAlongMigrations(store, { nowMs: () => nowMs });
  const key = { uuid: `demo#${moved.accountId}`, type: 'BALANCE#POINT' };
  const unmovedKey = { uuid: `demo#${unmoved.accountId}`, type: 'BALANCE#ECOPAY' };
  const read = async (): Promise<readonly (string | undefined)[]> => {
    nowMs += 2_000;
    const items = await table.store.get([key, unmovedKey]);
    return items.map((item) => item?.['balance']?.N);
  };
  const expected = [printedBalance(moved, 'POINT', 5), printedBalance(unmoved, 'ECOPAY')];
  expect(await read()).toEqual(expected);
  const toolkit = toolkitOf(harness);
  await backfill(toolkit, GOD_RECORD, { segments: 1 });
  await step(toolkit, GOD_RECORD, 'FORWARD', []);
  expect(await read()).toEqual(expected);
  const write = plan('token', { items: [putHeartbeat({ process: 'p', atMs: nowMs })] });
  await expect(table.transactor.commit(write)).rejects.toThrow('only reads');
});

it('what took longer than a state counts is read again, and in the end not at all', async () => {
  const { store } = harness.ledger;
  let nowMs = systemClock.nowMs();
  let slow = 1;
  let gets = 0;
  const slowStore: Store = {
    ...store,
    get: (keys) => {
      gets += 1;
      if (gets <= slow) nowMs += 6_000;
      return store.get(keys);
    },
  };
  const table = readAlongMigrations(slowStore, { nowMs: () => nowMs });
  const key = { uuid: `demo#${moved.accountId}`, type: 'BALANCE#POINT' };
  const [item] = await table.store.get([key]);
  expect([item?.['balance']?.N, gets]).toEqual([printedBalance(moved, 'POINT', 5), 2]);
  slow = 100;
  await expect(table.store.get([key])).rejects.toThrow(TableUnavailableError);
});
