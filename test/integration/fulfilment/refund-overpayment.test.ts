import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refundOverpayment } from '../../../src/fulfilment/refund-overpayment.ts';
import { createRegistry } from '../../../src/fulfilment/follow-up.ts';
import { type Worker, startWorker } from '../../../src/fulfilment/worker.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { customer } from '../../support/harness.ts';
import { type ProviderHarness, applyEvents, checkedOut, makeProviderHarness } from '../provider/support.ts';
import { eventually } from './support.ts';

const REFUNDS = { method: 'POST', path: '/v1/refunds' } as const;

let harness: ProviderHarness;
let worker: Worker | undefined;
beforeEach(async () => {
  harness = await makeProviderHarness();
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await harness.stop();
});

/** An order of 20.00, paid from the wallet, whose expired session's card payment came after all: booked as surplus. */
async function paidTwice(): Promise<{ readonly orderId: string; readonly overpaymentId: string }> {
  await harness.fund('t_1', 'u_1', '20.00');
  const { id, orderId, sessionId } = await checkedOut(harness, '20.00');
  await harness.simulator.expireSession({ session: sessionId });
  await applyEvents(harness);
  const charged = await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: id });
  expect(charged.kind).toBe('ChargeSuccess');
  await harness.simulator.payByCard({ session: sessionId, evenIfExpired: true });
  await applyEvents(harness);
  const { overpayments, steps } = await orderNow(orderId);
  const overpaymentId = overpayments[0]?.paymentId ?? '';
  expect(steps).toMatchObject([{ name: `refund-surplus:${overpaymentId}`, state: 'PENDING' }]);
  return { orderId, overpaymentId };
}

function orderNow(orderId: string): Promise<Order> {
  return harness.order('t_1', 'u_1', orderId);
}

function work(): void {
  worker = startWorker(harness.ledger, createRegistry(refundOverpayment(harness.ledger.provider)), {
    sweep: () => Promise.resolve(),
    metrics: createMetrics(),
    logger: createLogger({ level: 'silent', clock: harness.clock }),
    settings: { busyPollMs: 5, idlePollMs: 80, restMs: 0 },
  });
}

async function until(orderId: string, reached: (order: Order) => boolean): Promise<Order> {
  return eventually(async () => {
    const order = await orderNow(orderId);
    if (!reached(order)) throw new Error(`not yet: ${JSON.stringify(order.steps)}`);
    return order;
  });
}

async function refundStates(orderId: string): Promise<readonly string[]> {
  return (await harness.refunds('t_1', 'u_1', orderId)).map(({ state }) => state);
}

const isDone = ({ steps }: Order): boolean => steps.every(({ state }) => state === 'DONE');
const hasFailed = ({ steps }: Order): boolean =>
  steps[0]?.lastError !== undefined && steps[0].owner === undefined;

/** The refunds that Stripe has of a payment, oldest first: amount and state. */
async function atStripe(paymentId: string): Promise<readonly string[]> {
  const listed = await harness.ledger.provider.listRefunds({ paymentId, limit: 100 });
  if (listed.kind !== 'DONE') throw new Error(listed.kind);
  return listed.value.items.map(({ amountMinor, status }) => `${amountMinor} ${status}`).reverse();
}

describe('a surplus payment', () => {
  it('is given back in full, once, and booked when the event tells of it', async () => {
    const { orderId, overpaymentId } = await paidTwice();
    work();
    const done = await until(orderId, isDone);
    expect(done.state).toBe('CONFIRMED');
    expect(await atStripe(overpaymentId)).toEqual(['2000 succeeded']);
    await applyEvents(harness);
    const recorded = await orderNow(orderId);
    expect(recorded.overpayments.map(({ refunded }) => refunded.toFixed())).toEqual(['20']);
    expect([recorded.refundable.toFixed(), recorded.refundCount]).toEqual(['20', 0]);
  });

  it('is given back once although the answer got lost', async () => {
    const { orderId, overpaymentId } = await paidTwice();
    await harness.simulator.resetNextRequests({ ...REFUNDS, count: 1, when: 'after' });
    work();
    await until(orderId, hasFailed);
    await harness.advance(2_000);
    await until(orderId, isDone);
    expect(await atStripe(overpaymentId)).toEqual(['2000 succeeded']);
  });

  it('is given back later when the provider could not be asked', async () => {
    const { orderId, overpaymentId } = await paidTwice();
    await harness.simulator.failNextRequests({ ...REFUNDS, count: 1, status: 429, type: 'api_error' });
    work();
    const waiting = await until(orderId, hasFailed);
    expect(waiting.steps[0]?.lastError).toMatch(/^the provider: /);
    expect(await atStripe(overpaymentId)).toEqual([]);
    await harness.advance(2_000);
    await until(orderId, isDone);
    expect(await atStripe(overpaymentId)).toEqual(['2000 succeeded']);
  });

  it('of which the dashboard gave a part back gets the rest', async () => {
    const { orderId, overpaymentId } = await paidTwice();
    await harness.simulator.dashboardRefund({ paymentIntent: overpaymentId, amount: 500 });
    work();
    await until(orderId, isDone);
    expect(await atStripe(overpaymentId)).toEqual(['500 succeeded', '1500 succeeded']);
  });

  it('that the dashboard gave back needs nothing more', async () => {
    const { orderId, overpaymentId } = await paidTwice();
    await harness.simulator.dashboardRefund({ paymentIntent: overpaymentId });
    work();
    await until(orderId, isDone);
    expect(await atStripe(overpaymentId)).toEqual(['2000 succeeded']);
  });

  it('whose refund failed is refunded anew, under another key', async () => {
    const { orderId, overpaymentId } = await paidTwice();
    await harness.simulator.nextRefunds({ status: 'failed', count: 1 });
    work();
    await until(orderId, hasFailed);
    await harness.advance(2_000);
    await until(orderId, isDone);
    expect(await atStripe(overpaymentId)).toEqual(['2000 failed', '2000 succeeded']);
  });
});

/** No webhook of the refund's end ever comes: whatever heals, heals by asking. */
describe("a surplus payment's refund that waits at Stripe", () => {
  const HALF_HOUR_MS = 30 * 60_000;

  /** The step has asked for the refund, and Stripe has it as pending. */
  async function pendingRefund(): Promise<{ readonly orderId: string; readonly overpaymentId: string }> {
    const paid = await paidTwice();
    await harness.simulator.nextRefunds({ status: 'pending', count: 1 });
    work();
    await until(paid.orderId, isDone);
    await worker?.stop();
    expect(await atStripe(paid.overpaymentId)).toEqual(['2000 pending']);
    return paid;
  }

  async function settleAtStripe(overpaymentId: string, status: 'succeeded' | 'failed'): Promise<void> {
    const listed = await harness.ledger.provider.listRefunds({ paymentId: overpaymentId, limit: 1 });
    const refund = listed.kind === 'DONE' ? (listed.value.items[0]?.providerRefundId ?? '') : '';
    await harness.simulator.settleRefund({ refund, status });
  }

  function sweep(orderId: string): ReturnType<typeof sweepOrder> {
    return sweepOrder(harness.ledger, { tenant: 't_1', accountId: 'u_1', orderId });
  }

  async function refundEntries(): Promise<readonly string[]> {
    const entries = await harness.entries('t_1', 'u_1');
    return entries
      .filter(({ operation }) => operation === 'REFUND')
      .flatMap(({ postings }) =>
        postings.map(({ debit, credit, amount }) => `${debit} > ${credit} ${amount.toFixed()}`),
      );
  }

  it.each([
    ['told of as pending', true],
    ['never told of', false],
  ])('and was %s is booked by the sweeper, once', async (_name, isReported) => {
    const { orderId, overpaymentId } = await pendingRefund();
    if (isReported) await applyEvents(harness);
    expect(await refundStates(orderId)).toEqual(isReported ? ['PENDING'] : []);
    await harness.advance(HALF_HOUR_MS - 1);
    expect(await sweep(orderId)).toBe('NOT_DUE');
    await harness.advance(1);
    expect(await sweep(orderId)).toBe('WAITING');
    expect((await orderNow(orderId)).checks?.count).toBe(1);
    expect(await refundEntries()).toEqual([]);

    await settleAtStripe(overpaymentId, 'succeeded');
    await harness.advance(3 * HALF_HOUR_MS);
    expect(await sweep(orderId)).toBe('SETTLED');
    await applyEvents(harness);
    const recorded = await orderNow(orderId);
    expect(recorded.overpayments.map(({ refunded }) => refunded.toFixed())).toEqual(['20']);
    expect([recorded.state, recorded.refundable.toFixed(), recorded.checks]).toEqual([
      'CONFIRMED',
      '20',
      undefined,
    ]);
    expect(await refundEntries()).toEqual([`surplus:${orderId} > stripe 20`]);
    expect(await harness.balance('t_1', 'u_1')).toBe('0');
  });

  it('after one that had failed, and was never told of, is booked by the sweeper too', async () => {
    const { orderId, overpaymentId } = await paidTwice();
    await harness.simulator.nextRefunds({ status: 'failed', count: 1 });
    work();
    await until(orderId, hasFailed);
    await applyEvents(harness);
    await harness.advance(2_000);
    await until(orderId, isDone);
    await worker?.stop();
    expect(await atStripe(overpaymentId)).toEqual(['2000 failed', '2000 succeeded']);
    expect((await orderNow(orderId)).overpayments[0]).toMatchObject({
      asked: 2,
      refundCount: 1,
      pendingRefundCount: 0,
    });
    expect(await refundStates(orderId)).toEqual(['FAILED']);
    await harness.advance(HALF_HOUR_MS);
    expect(await sweep(orderId)).toBe('SETTLED');
    expect((await orderNow(orderId)).overpayments.map(({ refunded }) => refunded.toFixed())).toEqual(['20']);
    expect(await refundEntries()).toEqual([`surplus:${orderId} > stripe 20`]);
  });

  it('and fails there is alerted, and no more asked about', async () => {
    const { orderId, overpaymentId } = await pendingRefund();
    await applyEvents(harness);
    await settleAtStripe(overpaymentId, 'failed');
    await harness.advance(HALF_HOUR_MS);
    const alerts = harness.counted.get('SurplusPayment') ?? 0;
    expect(await sweep(orderId)).toBe('SETTLED');
    expect(harness.counted.get('SurplusPayment')).toBe(alerts + 1);
    expect(await refundStates(orderId)).toEqual(['FAILED']);
    expect(await refundEntries()).toEqual([]);
    await harness.advance(48 * 2 * HALF_HOUR_MS);
    expect(await sweep(orderId)).toBe('SETTLED');
  });
});
