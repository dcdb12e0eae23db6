import { afterEach, describe, expect, inject, it } from 'vitest';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import type { Store } from '../../../src/ledger/table/store.ts';
import { type Harness, admin, customer, makeHarness } from '../../support/harness.ts';
import { type Sample, audit, fillSample, setNumber } from './audit-sample.ts';

let harness: Harness;
afterEach(() => {
  harness.close();
});

async function sampleLedger(): Promise<Sample> {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  return await fillSample(harness);
}

describe('beside live traffic', () => {
  it('reports nothing of a ledger that is charged, topped up and refunded while it is read', async () => {
    await sampleLedger();
    const { ledger, key } = harness;
    let auditing = true;
    const customerAtWork = async (accountId: string): Promise<number> => {
      let charges = 0;
      while (auditing || charges === 0) {
        await harness.fund('demo', accountId, '100');
        const order = await harness.openOrder('demo', accountId, '60');
        await charge(ledger, customer(accountId, 'demo'), key(), { orderId: order.id });
        await refund(ledger, admin('demo'), key(), { orderId: order.id, amount: '10' });
        charges += 1;
      }
      return charges;
    };
    const work = ['alice', 'bob', 'carol', 'dan'].map(customerAtWork);
    for (let round = 0; round < 5; round += 1) {
      const report = await audit(harness, harness.ledger.store, 3);
      expect(report.problems).toEqual([]);
      expect(report.totals.map((total) => total.difference)).toEqual(report.totals.map(() => '0'));
    }
    auditing = false;
    await Promise.all(work);
    const atRest = await audit(harness);
    expect(atRest).toMatchObject({ problems: [], unsettled: [], accounts: 5 });
  });

  it('reports a difference only once it was seen three times, seconds apart', async () => {
    await sampleLedger();
    await setNumber(harness, 'BALANCE#ECOPAY', 'balance', '1141');
    const waitedMs: number[] = [];
    const wait = (ms: number): Promise<void> => {
      waitedMs.push(ms);
      return Promise.resolve();
    };
    const report = await auditTable(harness.ledger.store, { segments: 4, wait });
    expect(report.problems).toHaveLength(1);
    expect(waitedMs).toEqual([2_000, 2_000]);
  });

  it('takes nothing for a difference that heals by the second reading', async () => {
    await sampleLedger();
    await setNumber(harness, 'BALANCE#ECOPAY', 'balance', '1141');
    const report = await auditTable(harness.ledger.store, {
      segments: 4,
      wait: async () => {
        await setNumber(harness, 'BALANCE#ECOPAY', 'balance', '1140');
      },
    });
    expect(report).toMatchObject({ problems: [], unsettled: [] });
  });

  it('tells of an account that never holds still, instead of judging it', async () => {
    await sampleLedger();
    await setNumber(harness, 'BALANCE#ECOPAY', 'balance', '1141');
    let writes = 100;
    const { store } = harness.ledger;
    const restless: Store = {
      ...store,
      query: async (request) => {
        if (request.prefix === 'ENTRY#')
          await setNumber(harness, 'BALANCE#ECOPAY', 'writes', String((writes += 1)));
        return store.query(request);
      },
    };
    const report = await audit(harness, restless);
    expect(report.problems).toEqual([]);
    expect(report.unsettled).toEqual([{ tenant: 'demo', accountId: 'alice' }]);
  });
});
