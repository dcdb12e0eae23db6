import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { sumPostings } from '../../../src/ledger/audit/posted-sums.ts';
import { plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { admin, customer } from '../../support/harness.ts';
import { type ProviderHarness, URLS, applyEvents, makeProviderHarness, sessionOf } from './support.ts';

/**
 * A refund that we were asked for and that never happened: it gives back what its request took, and pays no debt. What the
 * provider gives back does (docs/DESIGN.md §8).
 */

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const REFUNDS = { method: 'POST', path: '/v1/refunds' } as const;

interface Debtor {
  readonly accountId: string;
  readonly orderId: string;
  readonly id: string;
}

let debtor: Debtor;
/**
 * A customer who topped up 10.00, spent it, and owes 4.00 since that much was refunded in the dashboard all the same; 4.00
 * have come into the wallet in another way.
 */
beforeEach(async () => {
  const accountId = `u_${harness.key()}`;
  const input = { amount: '10.00', method: 'CHECKOUT', ...URLS } as const;
  const outcome = await topUp(harness.ledger, customer(accountId), harness.key(), input);
  if (outcome.kind !== 'TopUpSuccess') throw new Error(outcome.kind);
  const { orderId } = outcome;
  await harness.simulator.payByCard({ session: await sessionOf(harness, orderId, accountId) });
  await applyEvents(harness);
  await harness.fund('t_1', accountId, '-10.00');
  const { payment } = await harness.order('t_1', accountId, orderId);
  await harness.simulator.dashboardRefund({ paymentIntent: payment?.paymentId ?? '', amount: 400 });
  await applyEvents(harness);
  await harness.fund('t_1', accountId, '4.00');
  debtor = { accountId, orderId, id: encodeNodeId('Order', 't_1', accountId, orderId) };
  expect(await standing()).toEqual(BEFORE);
});

/** The wallet; what the order says is owed, and what the entries say; what can be refunded. */
async function standing(): Promise<readonly string[]> {
  const { accountId, orderId } = debtor;
  const { receivable, refundable } = await harness.order('t_1', accountId, orderId);
  const sums = [...sumPostings(await harness.entries('t_1', accountId)).values()];
  const receivableSum = sums.find(({ name }) => name === `receivable:${accountId}`)?.sum;
  return [
    `wallet ${await harness.balance('t_1', accountId)}`,
    `owed ${plainDecimal(receivable)}, by entries ${receivableSum === undefined ? '0' : plainDecimal(receivableSum)}`,
    `refundable ${plainDecimal(refundable)}`,
  ];
}
const BEFORE = ['wallet 4', 'owed 4, by entries -4', 'refundable 6'];

function ask(): ReturnType<typeof refund> {
  return refund(harness.ledger, admin(), harness.key(), { orderId: debtor.id, amount: '4.00' });
}

async function expectSoundBooks(): Promise<void> {
  const report = await auditTable(harness.ledger.store, { segments: 1, wait: () => Promise.resolve() });
  expect(report.problems).toEqual([]);
}

describe('a refund of a top-up that was asked for while its customer owes', () => {
  it('gives the wallet back what it took when Stripe was too busy, and pays no debt with it', async () => {
    await harness.simulator.failNextRequests({ ...REFUNDS, count: 1, status: 429, type: 'api_error' });
    expect((await ask()).kind).toBe('ProviderUnavailable');
    expect(await standing()).toEqual(BEFORE);
    await expectSoundBooks();
  });

  it('does so when Stripe refuses it', async () => {
    const refusal = { status: 400, type: 'invalid_request_error', code: 'charge_disputed' } as const;
    await harness.simulator.failNextRequests({ ...REFUNDS, count: 1, ...refusal });
    expect((await ask()).kind).toBe('ProviderRefused');
    expect(await standing()).toEqual(BEFORE);
    await expectSoundBooks();
  });

  it('does so when Stripe makes one that has failed', async () => {
    await harness.simulator.nextRefunds({ status: 'failed', count: 1 });
    expect((await ask()).kind).toBe('ProviderRefused');
    expect(await standing()).toEqual(BEFORE);
    await applyEvents(harness);
    expect(await standing()).toEqual(BEFORE);
    await expectSoundBooks();
  });

  it.each(['pending', 'succeeded'] as const)('does so when a %s one fails later', async (status) => {
    await harness.simulator.nextRefunds({ status, count: 1 });
    expect((await ask()).kind).toBe('RefundSuccess');
    await applyEvents(harness);
    expect(await standing()).toEqual(['wallet 0', 'owed 4, by entries -4', 'refundable 2']);
    const [, requested] = (await harness.refunds('t_1', debtor.accountId, debtor.orderId)).toSorted(
      (one, other) => (one.source < other.source ? -1 : 1),
    );
    await harness.simulator.settleRefund({ refund: requested?.providerRefundId ?? '', status: 'failed' });
    await applyEvents(harness);
    expect(await standing()).toEqual(BEFORE);
    await expectSoundBooks();
  });
});

it('a refund in the dashboard that fails pays what is owed', async () => {
  const [made] = await harness.refunds('t_1', debtor.accountId, debtor.orderId);
  await harness.simulator.settleRefund({ refund: made?.providerRefundId ?? '', status: 'failed' });
  await applyEvents(harness);
  expect(await standing()).toEqual(['wallet 4', 'owed 0, by entries 0', 'refundable 10']);
  await expectSoundBooks();
});
