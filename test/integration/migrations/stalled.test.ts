import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDynamoDbClient } from '../../../src/ledger/table/dynamodb.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import type { Store } from '../../../src/ledger/table/store.ts';
import { createTransactor } from '../../../src/ledger/table/transact.ts';
import { backfill } from '../../../src/migrations/backfill.ts';
import { hasMoved, legacyKey } from '../../../src/migrations/legacy-record.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { COUNTS_FOR_MS, LEASE_MS } from '../../../src/migrations/state.ts';
import { verify } from '../../../src/migrations/verify.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Harness, makeHarness, terminal } from '../../support/harness.ts';
import { legacyCustomers, seedLegacy } from '../../support/legacy-records.ts';
import { startGateway, step, toolkitOf } from '../../support/migrating-fleet.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterEach(() => {
  harness.close();
});

async function forward(...phases: readonly string[]): Promise<void> {
  for (const phase of phases) expect(await step(toolkitOf(harness), GOD_RECORD, 'FORWARD', [])).toBe(phase);
}

/** From `expand` to `contract`, as an operator does it who doesn't wait. */
async function migrateToContract(): Promise<void> {
  const toolkit = toolkitOf(harness);
  await forward('backfill');
  expect(await backfill(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({ left: 0 });
  await forward('verify');
  expect(await verify(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({ report: { unmoved: 0 } });
  await forward('read-new');
  expect(await verify(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({ report: { unmoved: 0 } });
  await forward('contract');
}

describe('a write whose retry comes after its lease', () => {
  let proxy: FaultProxy;
  beforeEach(async () => {
    proxy = await startFaultProxy({ target: inject('engineEndpoint') });
  });
  afterEach(async () => {
    await proxy.stop();
  });

  /** A top-up that is throttled once, and whose gateway then stalls for more than a minute; and the same once more. */
  async function stalledTopUp(accountId: string, meanwhile: () => Promise<void>): Promise<void> {
    const { ledger, clock, tableName } = harness;
    const client = createDynamoDbClient({ region: 'local', endpoint: proxy.endpoint });
    let isStalled = false;
    const wait = async (): Promise<void> => {
      if (isStalled) return;
      isStalled = true;
      clock.advance(COUNTS_FOR_MS + LEASE_MS);
      await meanwhile();
    };
    const transactor = createTransactor({ client, tableName, ids: ledger.ids, wait });
    const gateway = await startGateway({ ledger: { ...ledger, transactor } });
    proxy.next({ operation: 'TransactWriteItems', fault: { kind: 'ERROR', name: 'ThrottlingException' } });
    const key = harness.key();
    const cashIn = (): ReturnType<typeof topUp> =>
      topUp(gateway.ledger, terminal('cafe', 'demo'), key, { accountId, amount: '700', method: 'CASH' });
    expect(await cashIn()).toMatchObject({ kind: 'Throttled' });
    expect(isStalled).toBe(true);
    expect(await cashIn()).toMatchObject({ kind: 'TopUpSuccess' });
    client.destroy();
  }

  it('is not sent into a phase that may be long gone, and is made under its key in the phase of then', async () => {
    await forward('off', 'expand');
    await stalledTopUp('late', migrateToContract);
    expect(await harness.balance('demo', 'late')).toBe('700');
  });

  it('is not sent by a backfill that stalled, so that no record moves in `off`', async () => {
    const { ledger, clock, tableName } = harness;
    const [account] = legacyCustomers({ count: 1, seed: 2, atMs: clock.nowMs() });
    if (account === undefined) throw new Error('no account');
    await seedLegacy(ledger.transactor, ledger.ids, [account]);
    await forward('off', 'expand', 'backfill');
    const client = createDynamoDbClient({ region: 'local', endpoint: proxy.endpoint });
    const toolkit = toolkitOf(harness);
    const back: string[] = [];
    const wait = async (): Promise<void> => {
      if (back.length > 0) return;
      clock.advance(COUNTS_FOR_MS + LEASE_MS);
      for (let steps = 0; steps < 2; steps += 1) back.push(await step(toolkit, GOD_RECORD, 'BACK', []));
    };
    const store: Store = {
      ...ledger.store,
      query: async (request) => {
        // The walk looks for the record's entries: what it sends next is the move.
        if (request.prefix === 'ENTRY#') {
          const fault = { kind: 'ERROR', name: 'ThrottlingException' } as const;
          proxy.next({ operation: 'TransactWriteItems', fault });
        }
        return ledger.store.query(request);
      },
    };
    const transactor = createTransactor({ client, tableName, ids: ledger.ids, wait });
    const stopped = await backfill({ ...toolkit, table: { store, transactor } }, GOD_RECORD, { segments: 1 });
    expect(back).toEqual(['expand', 'off']);
    expect(stopped).toMatchObject({ kind: 'REFUSED' });
    const [record] = await ledger.store.get([legacyKey(GOD_RECORD, account)]);
    expect(hasMoved(GOD_RECORD, record ?? {})).toBe(false);
    client.destroy();
  });

  it('is not sent into a migration of which its process has not heard', async () => {
    const toolkit = toolkitOf(harness);
    const [account] = legacyCustomers({ count: 1, seed: 2, atMs: harness.clock.nowMs() });
    if (account === undefined) throw new Error('no account');
    await seedLegacy(harness.ledger.transactor, harness.ledger.ids, [account]);
    await stalledTopUp(account.accountId, async () => {
      await forward('off', 'expand', 'backfill');
      expect(await backfill(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({ handled: 1 });
    });
    expect(await verify(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({
      report: { records: 1, unmoved: 0, differences: 0 },
    });
  });
});
