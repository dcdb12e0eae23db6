import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { type BackfillResult, backfill } from '../../../src/migrations/backfill.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { COUNTS_FOR_MS } from '../../../src/migrations/state.ts';
import { takeStep } from '../../../src/migrations/steps.ts';
import { type Toolkit, unmovedRecords } from '../../../src/migrations/toolkit.ts';
import { verify } from '../../../src/migrations/verify.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import type { Fault } from '../../support/faults.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { legacyCustomers, seedLegacy } from '../../support/legacy-records.ts';
import { startGateway, step, toolkitOf } from '../../support/migrating-fleet.ts';
import { directChannel } from '../../support/migration-channel.ts';
import { disagreement } from '../../support/migration-customers.ts';
import { startTraffic } from '../../support/migration-traffic.ts';

const FAULTS: readonly Fault[] = [
  { kind: 'DROP_BEFORE' },
  { kind: 'DROP_AFTER' },
  { kind: 'RESET', after: true },
  { kind: 'DUPLICATE', answer: 'SECOND' },
  { kind: 'SERVER_ERROR', status: 503, after: true },
  { kind: 'CANCELED', reasons: ['None', 'TransactionConflict'] },
  { kind: 'ERROR', name: 'ThrottlingException' },
];

let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await startFaultProxy({ target: inject('engineEndpoint') });
});
afterAll(async () => {
  await proxy.stop();
});

let harness: Harness;
beforeEach(async () => {
  proxy.calm();
  harness = await makeHarness({ endpoint: proxy.endpoint, directEndpoint: inject('engineEndpoint') });
});
afterEach(() => {
  harness.close();
});

describe('a migration when things go wrong', { timeout: 120_000 }, () => {
  it('moves each record once and loses no write, whatever happens to requests on their way', async () => {
    const { ledger, clock } = harness;
    const legacy = legacyCustomers({ count: 20, seed: 11, atMs: clock.nowMs() });
    await seedLegacy(ledger.transactor, ledger.ids, legacy);
    const accounts = legacy.map(({ tenant, accountId, amounts, profile }) => ({
      tenant,
      accountId,
      amounts: { ...amounts },
      profile,
    }));
    const toolkit = toolkitOf(harness);
    await step(toolkit, GOD_RECORD, 'FORWARD', []);
    const gateway = await startGateway(harness);
    const traffic = startTraffic({
      channels: () => [directChannel(gateway.ledger)],
      accounts: accounts.slice(0, 3),
      seed: 5,
    });
    await step(toolkit, GOD_RECORD, 'FORWARD', [gateway]);
    await step(toolkit, GOD_RECORD, 'FORWARD', [gateway]);
    proxy.randomly({ seed: 8, rate: 0.08, faults: FAULTS });
    let result: BackfillResult;
    do {
      result = await backfill(toolkit, GOD_RECORD, { segments: 2, pageSize: 5 });
    } while (result.kind !== 'FINISHED' || result.left > 0);
    await traffic.whenServed(20);
    proxy.calm();
    await traffic.stop();

    expect(traffic.failures).toEqual([]);
    for (const account of accounts) expect(await disagreement(gateway.ledger, account)).toBeUndefined();
    const parity = await verify(toolkit, GOD_RECORD, { segments: 2 });
    expect(parity).toMatchObject({ report: { records: 20, unmoved: 0, differences: 0 } });
    const unmoved = await unmovedRecords(ledger.store);
    const report = await auditTable(ledger.store, {
      segments: 1,
      wait: () => Promise.resolve(),
      ...(unmoved === undefined ? {} : { unmoved }),
    });
    expect(report).toMatchObject({ problems: [], unsettled: [] });
    for (const { tenant, accountId } of accounts) {
      const openings = (await harness.entries(tenant, accountId)).filter(
        ({ reason }) => reason === 'opening balance, god-record',
      );
      expect(openings.length).toBeLessThanOrEqual(1);
    }
  });

  it('takes for done what was done, where every answer to an operator is lost', async () => {
    const { ledger, clock } = harness;
    await seedLegacy(
      ledger.transactor,
      ledger.ids,
      legacyCustomers({ count: 3, seed: 4, atMs: clock.nowMs() }),
    );
    const toolkit = toolkitOf(harness);
    const { store, transactor } = toolkit.table;
    const lossy: Toolkit = {
      ...toolkit,
      table: {
        store,
        transactor: {
          commit: async (plan, hooks) => {
            const result = await transactor.commit(plan, hooks);
            // A heartbeat is not asked for again: without an answer its process doesn't act.
            const isHeartbeat = JSON.stringify(plan.items).includes('"PROCESS#');
            return isHeartbeat || result.kind !== 'COMMITTED' ? result : { kind: 'UNKNOWN' };
          },
        },
      },
    };
    for (const phase of ['off', 'expand', 'backfill']) {
      expect(await step(lossy, GOD_RECORD, 'FORWARD', [])).toBe(phase);
    }
    expect(await backfill(lossy, GOD_RECORD, { segments: 2, pageSize: 2 })).toMatchObject({
      kind: 'FINISHED',
      handled: 3,
      left: 0,
    });
    expect(await verify(lossy, GOD_RECORD, { segments: 2 })).toMatchObject({
      kind: 'VERIFIED',
      report: { records: 3, unmoved: 0, differences: 0 },
    });
  });

  it('lets a killed gateway hold a step up for a minute, and no longer', async () => {
    const toolkit = toolkitOf(harness);
    await step(toolkit, GOD_RECORD, 'FORWARD', []);
    await startGateway(harness);
    await step(toolkit, GOD_RECORD, 'FORWARD', []);
    harness.clock.advance(COUNTS_FOR_MS - 1);
    expect(await takeStep(toolkit, GOD_RECORD, 'FORWARD')).toMatchObject({ kind: 'REFUSED' });
    harness.clock.advance(1);
    expect(await takeStep(toolkit, GOD_RECORD, 'FORWARD')).toMatchObject({ kind: 'TAKEN' });
  });

  it('keeps a gateway from acting on a phase that it could not read again in time', async () => {
    const gateway = await startGateway(harness);
    await gateway.ledger.store.get([{ uuid: 'demo#alice', type: 'PROFILE' }]);
    harness.clock.advance(5_001);
    proxy.next({ operation: 'Query', fault: { kind: 'DROP_BEFORE' }, times: 20 });
    proxy.resetCounts();
    await expect(gateway.ledger.store.get([{ uuid: 'demo#alice', type: 'PROFILE' }])).rejects.toThrow(
      'the table could not be read',
    );
    expect(proxy.seen('BatchGetItem')).toBe(0);
  });

  it('adds no round trip and no item where no migration is under way', async () => {
    const gateway = await startGateway(harness);
    proxy.resetCounts();
    await gateway.ledger.store.get([{ uuid: 'demo#alice', type: 'BALANCE#ECOPAY' }]);
    expect([proxy.seen(), proxy.seen('BatchGetItem')]).toEqual([1, 1]);
  });
});
