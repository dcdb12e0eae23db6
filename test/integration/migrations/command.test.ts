import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../../src/ledger/kernel/clock.ts';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { type MigrateCommand, migrateCommand } from '../../support/migrate-command.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { type LegacyAccount, legacyCustomers, seedLegacy } from '../../support/legacy-records.ts';
import { step, toolkitOf } from '../../support/migrating-fleet.ts';

let harness: Harness;
let accounts: readonly LegacyAccount[];
let command: MigrateCommand;

beforeAll(async () => {
  const endpoint = inject('engineEndpoint');
  harness = await makeHarness({ endpoint });
  command = migrateCommand({ endpoint, tableName: harness.tableName });
  const { transactor, ids } = harness.ledger;
  accounts = legacyCustomers({ count: 60, seed: 3, atMs: systemClock.nowMs() });
  await seedLegacy(transactor, ids, accounts);
});
afterAll(() => {
  command.stop();
  harness.close();
});

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
      command.run('forward', 'god-record'),
      command.run('advance', 'god-record', '--dry-run', '--json'),
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
    const refused = await command.run('backfill', 'god-record');
    expect(refused).toMatchObject({ code: 1, out: 'god-record: refused.\n  - It has not begun.\n' });
  });

  it('answers every command as data where it is asked to, refusals too', async () => {
    const commands = ['back', 'backfill', 'verify'] as const;
    const notBegun = { kind: 'REFUSED', reasons: ['It has not begun.'] };
    const [list, status, ...refused] = await Promise.all([
      command.run('list', '--json'),
      command.run('status', '--json'),
      ...commands.map((name) => command.run(name, 'metrics-split', '--json', '--dry-run')),
    ]);
    const migrations = ['god-record', 'metrics-split'].map((id) => ({
      id,
      title: expect.any(String) as string,
      phase: 'not begun',
    }));
    expect([list, status].map(({ code, out }) => [code, JSON.parse(out) as unknown])).toEqual([
      [0, { ok: true, command: 'list', migrations }],
      [0, { ok: true, command: 'status', migrations, fleet: [] }],
    ]);
    expect(refused.map(({ code, out }) => [code, JSON.parse(out) as unknown])).toEqual(
      commands.map((name) => [1, { ok: false, command: name, id: 'metrics-split', result: notBegun }]),
    );
  });

  it('goes on after a kill in the middle of a backfill, and moves each record exactly once', async () => {
    const toolkit = toolkitOf(harness);
    for (const phase of ['off', 'expand', 'backfill']) {
      expect(await step(toolkit, GOD_RECORD, 'FORWARD', [])).toBe(phase);
    }
    const killed = command.start('backfill', 'god-record', '--segments', '2', '--units-per-second', '60');
    await whenMoved(5);
    await killed.kill();
    expect(await command.run('advance', 'god-record')).toMatchObject({ code: 1 });
    const resumed = await command.run('backfill', 'god-record', '--json', '--units-per-second', '100000');
    expect(JSON.parse(resumed.out)).toMatchObject({
      ok: true,
      result: { kind: 'FINISHED', resumed: true, left: 0 },
    });
    const again = await command.run('backfill', 'god-record', '--json', '--units-per-second', '100000');
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
    const verified = await command.run('verify', 'god-record');
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.out).toContain('60 records, 0 unmoved, 0 differences');
  });
});
