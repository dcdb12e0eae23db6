import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startStripeSimulator } from '../../../dev/stripe-simulator/server.ts';
import { applyRefund } from '../../../src/ledger/operations/apply-refund.ts';
import { reconcile } from '../../../src/ledger/operations/reconcile.ts';
import { createStripeProvider } from '../../../src/stripe/stripe-adapter.ts';
import { type ProviderHarness, applyEvents, makeProviderHarness, paidByCard } from './support.ts';

/** What the ledger has booked, and the provider doesn't bear out. */

const DAY_MS = 86_400_000;
const BOTH_WAYS = { sinceMs: DAY_MS, fix: true, bothWays: true };

let harness: ProviderHarness;
beforeEach(async () => {
  harness = await makeProviderHarness();
});
afterEach(async () => {
  await harness.stop();
});

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
      bookings: 3,
      findings: [],
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
    expect(await reconcile(harness.ledger, BOTH_WAYS)).toMatchObject({ bookings: 0, findings: [] });
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
    await applyRefund(harness.ledger, { ...refund, status: 'succeeded' }, { kind: 'ASKED' });
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

  it('says so when the provider could not be asked about a booking', async () => {
    const { paymentId } = await paidByCard(harness, '20.00');
    await harness.advance(2 * DAY_MS);
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 500 });
    await applyEvents(harness);
    await harness.simulator.failNextRequests({
      method: 'GET',
      path: `/v1/payment_intents/${paymentId}`,
      count: 5,
      status: 500,
      type: 'api_error',
    });
    expect(await reconcile(harness.ledger, BOTH_WAYS)).toMatchObject({
      bookings: 2,
      findings: [],
      complete: false,
    });
  });
});
