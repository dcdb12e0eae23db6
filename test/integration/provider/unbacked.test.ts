import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startStripeSimulator } from '../../../dev/stripe-simulator/server.ts';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { applyDispute } from '../../../src/ledger/usecases/provider-updates/apply-dispute.ts';
import { applyRefund } from '../../../src/ledger/usecases/provider-updates/apply-refund.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { reconcile } from '../../../src/ledger/usecases/reconcile/reconcile.ts';
import { orderAttributes } from '../../../src/ledger/items/order-item.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import type { PaymentProvider, ProviderDispute } from '../../../src/provider/port.ts';
import { createStripeProvider } from '../../../src/provider/stripe/stripe-adapter.ts';
import { type ProviderHarness, applyEvents, makeProviderHarness, paidByCard } from './support.ts';

/** What the ledger has booked, and the provider doesn't bear out. */

const DAY_MS = 86_400_000;
const ASKED = { kind: 'LOOKUP' } as const;
const BOTH_WAYS = { sinceMs: DAY_MS, fix: true, bothWays: true };

let harness: ProviderHarness;
beforeEach(async () => {
  harness = await makeProviderHarness();
});
afterEach(async () => {
  await harness.stop();
});

/** A dispute that nobody has told of. */
async function untoldDispute(paymentId: string): Promise<ProviderDispute> {
  const { id } = await harness.simulator.openDispute({ paymentIntent: paymentId });
  const found = await harness.ledger.provider.retrieveDispute(id);
  if (found.kind !== 'DONE') throw new Error('no dispute');
  return found.value;
}

describe('a reconciliation both ways', () => {
  it('looks up every payment, refund and dispute that orders name, and asks only about what was not listed', async () => {
    const { paymentId } = await paidByCard(harness, '20.00');
    await harness.advance(2 * DAY_MS);
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 500 });
    await harness.simulator.openDispute({ paymentIntent: paymentId });
    await applyEvents(harness);
    await harness.advance(600_000);
    const asked = harness.calls.length;
    expect(await reconcile(harness.ledger, BOTH_WAYS)).toEqual({
      payments: 0,
      refunds: 1,
      disputes: 1,
      young: 0,
      foreign: 0,
      recordings: 3,
      findings: [],
      unreadable: [],
      complete: true,
    });
    expect(harness.calls.slice(asked)).toEqual([
      'listPayments',
      'listRefunds',
      'listDisputes',
      'retrievePayment',
    ]);
  });

  it('leaves alone what was not written since', async () => {
    await paidByCard(harness, '20.00');
    await harness.advance(2 * DAY_MS);
    expect(await reconcile(harness.ledger, BOTH_WAYS)).toMatchObject({ recordings: 0, findings: [] });
  });

  it('names everything that another account at the provider knows nothing of, and fixes none of it', async () => {
    const { orderId, paymentId } = await paidByCard(harness, '20.00');
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 500 });
    await applyEvents(harness);
    const other = await startStripeSimulator({
      secretKey: 'sk_test_2',
      webhookSecret: 'whsec_test_2',
      clock: harness.clock,
      seed: 'another account',
    });
    const provider = createStripeProvider({
      secretKey: 'sk_test_2',
      webhookSecrets: ['whsec_test_2'],
      apiBase: new URL(other.url),
      timeoutMs: 5_000,
    });
    const before = await harness.entries('t_1', 'u_1');
    const report = await reconcile({ ...harness.ledger, provider }, BOTH_WAYS);
    await other.close();
    const finding = {
      order: { tenant: 't_1', accountId: 'u_1', orderId },
      provider: 'has none',
      fixed: false,
      next: 'CHECK',
    };
    expect(report.findings).toEqual([
      { ...finding, kind: 'PAYMENT', providerId: paymentId, ledger: 'succeeded 20 USD' },
      {
        ...finding,
        kind: 'REFUND',
        providerId: expect.stringMatching(/^re_/) as string,
        ledger: 'succeeded 5 USD',
      },
    ]);
    expect(await harness.entries('t_1', 'u_1')).toEqual(before);
  });

  it('names a refund that the ledger has as given back while it is only pending there', async () => {
    const { paymentId } = await paidByCard(harness, '20.00');
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 500, status: 'pending' });
    const listed = await harness.ledger.provider.listRefunds({ limit: 1 });
    const refund = listed.kind === 'DONE' ? listed.value.items[0] : undefined;
    if (refund === undefined) throw new Error('no refund');
    expect(refund.status).toBe('pending');
    await applyRefund(harness.ledger, { ...refund, status: 'succeeded' }, { kind: 'LOOKUP' });
    await harness.advance(600_000);
    expect((await reconcile(harness.ledger, BOTH_WAYS)).findings).toMatchObject([
      {
        kind: 'REFUND',
        providerId: refund.providerRefundId,
        provider: 'pending 5 USD',
        ledger: 'succeeded 5 USD',
        fixed: false,
      },
    ]);
  });

  it('applies what became of a refund and of a dispute that were made before, and fixes each once', async () => {
    const { orderId, paymentId } = await paidByCard(harness, '20.00');
    const { simulator } = harness;
    await simulator.dashboardRefund({ paymentIntent: paymentId, amount: 500 });
    const made = await harness.ledger.provider.listRefunds({ limit: 1 });
    const refundId = made.kind === 'DONE' ? (made.value.items[0]?.providerRefundId ?? '') : '';
    const disputed = await paidByCard(harness, '30.00');
    await simulator.openDispute({ paymentIntent: disputed.paymentId });
    const opened = await harness.ledger.provider.listDisputes({ limit: 1 });
    const disputeId = opened.kind === 'DONE' ? (opened.value.items[0]?.disputeId ?? '') : '';
    await applyEvents(harness);
    await harness.advance(2 * DAY_MS);
    // Both orders are written since; what follows nobody tells.
    await simulator.dashboardRefund({ paymentIntent: paymentId, amount: 100 });
    await simulator.closeDispute({ dispute: disputeId, status: 'lost' });
    await applyEvents(harness);
    await simulator.settleRefund({ refund: refundId, status: 'failed' });
    await simulator.closeDispute({ dispute: disputeId, status: 'won' });
    await harness.advance(600_000);

    const refund = {
      kind: 'REFUND',
      providerId: refundId,
      order: { tenant: 't_1', accountId: 'u_1', orderId },
      provider: 'failed 5 USD',
      ledger: 'succeeded 5 USD',
    };
    const dispute = { ...refund, kind: 'DISPUTE', providerId: disputeId };
    const lost = {
      order: { ...refund.order, orderId: disputed.orderId },
      provider: 'won 30 USD',
      ledger: 'lost 30 USD',
    };
    const both = [refund, { ...dispute, ...lost }];
    const reported = await reconcile(harness.ledger, { ...BOTH_WAYS, fix: false });
    expect(reported.findings).toHaveLength(2);
    expect(reported.findings).toEqual(
      expect.arrayContaining(both.map((one) => ({ ...one, fixed: false, next: 'FIX' }))),
    );
    const report = await reconcile(harness.ledger, BOTH_WAYS);
    expect(report.findings).toHaveLength(2);
    expect(report.findings).toEqual(expect.arrayContaining(both.map((one) => ({ ...one, fixed: true }))));
    const after = await harness.order('t_1', 'u_1', orderId);
    expect([after.refunded.toFixed(), after.refundable.toFixed()]).toEqual(['1', '19']);
    const won = await harness.order('t_1', 'u_1', disputed.orderId);
    expect(won.disputes.map(({ status, recorded }) => [status, recorded])).toEqual([['won', false]]);
    const entries = await harness.entries('t_1', 'u_1');
    expect((await reconcile(harness.ledger, BOTH_WAYS)).findings).toEqual([]);
    expect(await harness.entries('t_1', 'u_1')).toHaveLength(entries.length);
  });

  it('contradicts a dispute that ended otherwise here than there, and what waits here alone; each is fixed once', async () => {
    const { ledger, simulator } = harness;
    const wonHere = await paidByCard(harness, '20.00');
    const openHere = await paidByCard(harness, '30.00');
    const refunded = await paidByCard(harness, '40.00');
    const [won, open] = [await untoldDispute(wonHere.paymentId), await untoldDispute(openHere.paymentId)];
    const { id: refundId } = await simulator.dashboardRefund({
      paymentIntent: refunded.paymentId,
      amount: 500,
      status: 'pending',
    });
    const refund = await ledger.provider.retrieveRefund(refundId);
    await harness.advance(2 * DAY_MS);
    // What is told of them now, and no more, is written since.
    await applyDispute(ledger, { ...won, status: 'won' }, ASKED);
    await applyDispute(ledger, open, ASKED);
    if (refund.kind === 'DONE') await applyRefund(ledger, refund.value, ASKED);
    await simulator.closeDispute({ dispute: won.disputeId, status: 'lost' });
    await simulator.closeDispute({ dispute: open.disputeId, status: 'won' });
    await simulator.settleRefund({ refund: refundId, status: 'failed' });
    await harness.advance(600_000);

    const differences = [
      ['DISPUTE', wonHere.orderId, 'lost 20 USD', 'won 20 USD'],
      ['DISPUTE', openHere.orderId, 'won 30 USD', 'open 30 USD'],
      ['REFUND', refunded.orderId, 'failed 5 USD', 'pending 5 USD'],
    ];
    const found = async (fix: boolean): Promise<readonly unknown[]> => {
      const { findings } = await reconcile(ledger, { ...BOTH_WAYS, fix });
      return findings.map(({ kind, order, provider, ledger: own, fixed, next }) => [
        ...[kind, order?.orderId, provider, own],
        ...[fixed, next],
      ]);
    };
    const reported = await found(false);
    expect(reported).toHaveLength(3);
    expect(reported).toEqual(expect.arrayContaining(differences.map((one) => [...one, false, 'FIX'])));
    const fixed = await found(true);
    expect(fixed).toHaveLength(3);
    expect(fixed).toEqual(expect.arrayContaining(differences.map((one) => [...one, true, undefined])));
    expect(await found(true)).toEqual([]);
    const [wasWon, wasOpen, released] = await Promise.all(
      [wonHere, openHere, refunded].map(({ orderId }) => harness.order('t_1', 'u_1', orderId)),
    );
    expect(wasWon?.disputes).toMatchObject([{ status: 'lost', recorded: true }]);
    expect(wasOpen?.disputes).toMatchObject([{ status: 'won', recorded: false }]);
    expect(released?.refundable.toFixed()).toBe('40');
  });

  it('leaves to the next run what a webhook tells of between its read and the answer of the provider', async () => {
    const { ledger, simulator } = harness;
    const { orderId, paymentId } = await paidByCard(harness, '20.00');
    const made = { paymentIntent: paymentId, amount: 500, status: 'pending' } as const;
    const { id: refundId } = await simulator.dashboardRefund(made);
    await harness.advance(2 * DAY_MS);
    await applyEvents(harness);
    const provider: PaymentProvider = {
      ...ledger.provider,
      retrieveRefund: async (id) => {
        await simulator.settleRefund({ refund: id, status: 'succeeded' });
        await applyEvents(harness);
        return ledger.provider.retrieveRefund(id);
      },
    };
    const report = await reconcile({ ...ledger, provider }, BOTH_WAYS);
    expect(report).toMatchObject({ young: 1, findings: [], complete: true });
    expect(await harness.refunds('t_1', 'u_1', orderId)).toMatchObject([
      { providerRefundId: refundId, state: 'SUCCEEDED' },
    ]);
    expect(await reconcile(ledger, BOTH_WAYS)).toMatchObject({ young: 0, findings: [], recordings: 2 });
  });

  it('leaves what was made a moment ago to its webhook', async () => {
    const { ledger, simulator } = harness;
    const { paymentId } = await paidByCard(harness, '20.00');
    const { id } = await simulator.dashboardRefund({
      paymentIntent: paymentId,
      amount: 500,
      status: 'pending',
    });
    await applyEvents(harness);
    await simulator.settleRefund({ refund: id, status: 'failed' });
    // Payment and refund are seconds old.
    expect(await reconcile(ledger, BOTH_WAYS)).toMatchObject({ young: 2, recordings: 0, findings: [] });
    await harness.advance(600_000);
    expect((await reconcile(ledger, { ...BOTH_WAYS, fix: false })).findings).toMatchObject([
      { providerId: id, next: 'FIX' },
    ]);
  });

  it('names a dispute over another amount than Stripe has, whenever it was opened, and fixes it', async () => {
    const { ledger } = harness;
    const { orderId, paymentId } = await paidByCard(harness, '20.00');
    const dispute = await untoldDispute(paymentId);
    await harness.advance(600_000);
    await applyDispute(ledger, { ...dispute, amountMinor: 1500 }, ASKED);
    const difference = { kind: 'DISPUTE', provider: 'open 20 USD', ledger: 'open 15' };
    const oneWay = { ...BOTH_WAYS, fix: false, bothWays: false };
    expect((await reconcile(ledger, oneWay)).findings).toMatchObject([{ ...difference, next: 'FIX' }]);
    await harness.advance(2 * DAY_MS);
    const longAgo = { ...BOTH_WAYS, sinceMs: 3 * DAY_MS };
    expect((await reconcile(ledger, longAgo)).findings).toMatchObject([{ ...difference, fixed: true }]);
    expect((await reconcile(ledger, longAgo)).findings).toEqual([]);
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(order.disputes.map(({ amount }) => amount.toFixed())).toEqual(['20']);
  });

  it('names an order that cannot be read, and goes on with all others', async () => {
    const broken = await paidByCard(harness, '20.00');
    const { orderId, paymentId } = await paidByCard(harness, '30.00');
    for (const payment of [broken.paymentId, paymentId])
      await harness.simulator.dashboardRefund({ paymentIntent: payment, amount: 100 });
    const { ledger } = harness;
    const Item = {
      ...toAttributes(orderAttributes(await harness.order('t_1', 'u_1', broken.orderId), ledger.settings)),
      state: { S: 'BROKEN' },
    };
    const part = { items: [{ role: 'order', item: { Put: { Item } } }] } as const;
    expect(await commit(ledger, plan(ledger.ids.token(), part))).toMatchObject({ kind: 'COMMITTED' });
    await harness.advance(600_000);
    const report = await reconcile(ledger, BOTH_WAYS);
    expect(report).toMatchObject({ payments: 2, refunds: 2, complete: true });
    // The refund of the other one is fixed; its payment and itself are all that can be looked up.
    expect(report.findings).toMatchObject([{ kind: 'REFUND', order: { orderId }, fixed: true }]);
    expect(report.recordings).toBe(2);
    const problem = 'malformed item: attribute state';
    expect(report.unreadable).toEqual([
      { item: expect.stringMatching(/^of pi_/) as string, problem },
      { item: expect.stringMatching(/^of re_/) as string, problem },
      { item: `t_1#u_1 ORDER#${broken.orderId}`, problem },
    ]);
  });

  it('says so when the provider could not be asked about a booking', async () => {
    const { paymentId } = await paidByCard(harness, '20.00');
    await harness.advance(2 * DAY_MS);
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 500 });
    await applyEvents(harness);
    await harness.advance(600_000);
    await harness.simulator.failNextRequests({
      method: 'GET',
      path: `/v1/payment_intents/${paymentId}`,
      count: 5,
      status: 500,
      type: 'api_error',
    });
    expect(await reconcile(harness.ledger, BOTH_WAYS)).toMatchObject({
      recordings: 2,
      findings: [],
      complete: false,
    });
  });
});
