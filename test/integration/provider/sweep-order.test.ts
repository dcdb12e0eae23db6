import { principalOf } from '../../../src/auth/viewer.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimAttempt } from '../../../src/ledger/model/provider/attempts.ts';
import { dueAtMs } from '../../../src/ledger/model/orders/due.ts';
import type { OrderRef } from '../../../src/ledger/kernel/keys.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { customer, merchant } from '../../support/harness.ts';
import {
  LEASE_MS,
  type ProviderHarness,
  URLS,
  applyEvents,
  attemptOf,
  checkedOut,
  makeProviderHarness,
  idempotencyRecordOf,
  paidByCard,
} from './support.ts';

/** No webhook is ever sent in these tests: whatever heals, heals by asking. */

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const MINUTE_MS = 60_000;
const HALF_HOUR_MS = 30 * MINUTE_MS;

function ref(orderId: string, tenant = 't_1', accountId = 'u_1'): OrderRef {
  return { tenant, accountId, orderId };
}

function order(orderId: string): Promise<Order> {
  return harness.order('t_1', 'u_1', orderId);
}

async function konbini(): Promise<{ readonly orderId: string; readonly sessionId: string }> {
  const { id, orderId } = await harness.openOrder('demo', 'yen', '3000');
  await checkout(harness.ledger, customer('yen', 'demo'), harness.key(), { orderId: id, ...URLS });
  const { attempts } = await harness.order('demo', 'yen', orderId);
  const sessionId = attempts[0]?.sessionId ?? '';
  await harness.simulator.startKonbini({ session: sessionId });
  return { orderId, sessionId };
}

describe('an order whose payment nobody told of', () => {
  it('is left alone for half an hour, then asked about, and PAID exactly once', async () => {
    const { orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    await harness.advance(HALF_HOUR_MS - 1);
    const before = harness.calls.length;
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('NOT_DUE');
    expect(harness.calls.slice(before)).toEqual([]);

    await harness.advance(1);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    expect((await order(orderId)).state).toBe('PAID');
    // Late after all, all of its events change nothing.
    await applyEvents(harness);
    const after = await order(orderId);
    expect(after.timeline.filter(({ cause }) => cause === 'PAYMENT_RECEIVED')).toHaveLength(1);
    expect(after.overpayments).toEqual([]);
    const entries = await harness.entries('t_1', 'u_1');
    expect(entries.filter((entry) => entry.orderId === orderId)).toHaveLength(1);
  });

  it('is PAID once although sweepers and its webhooks come in the same instant', async () => {
    const { orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    await harness.advance(HALF_HOUR_MS);
    const listed = await harness.ledger.provider.listEvents({ limit: 20 });
    const events = listed.kind === 'DONE' ? listed.value.items : [];
    await Promise.all([
      ...[1, 2, 3].map(() => sweepOrder(harness.ledger, ref(orderId))),
      ...events.map((event) => applyEvent(harness.ledger, event)),
    ]);
    const after = await order(orderId);
    expect(after.state).toBe('PAID');
    expect(after.timeline.filter(({ cause }) => cause === 'PAYMENT_RECEIVED')).toHaveLength(1);
    expect(after.overpayments).toEqual([]);
    const entries = await harness.entries('t_1', 'u_1');
    expect(entries.filter((entry) => entry.orderId === orderId)).toHaveLength(1);
  });

  it('by a convenience-store slip shows the slip, then follows its payment', async () => {
    const { orderId, sessionId } = await konbini();
    await harness.advance(HALF_HOUR_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId, 'demo', 'yen'))).toBe('WAITING');
    const waiting = await harness.order('demo', 'yen', orderId);
    expect(waiting.state).toBe('PENDING_PAYMENT');
    expect(waiting.voucher?.url).toMatch(/^http/);
    await harness.simulator.completeAsyncPayment({ session: sessionId });
    await harness.advance(2 * HALF_HOUR_MS + 10 * MINUTE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId, 'demo', 'yen'))).toBe('SETTLED');
    expect((await harness.order('demo', 'yen', orderId)).state).toBe('PAID');
  });

  it('and that has failed at the provider is FAILED', async () => {
    const { orderId, sessionId } = await konbini();
    await harness.simulator.failAsyncPayment({ session: sessionId });
    await harness.advance(HALF_HOUR_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId, 'demo', 'yen'))).toBe('SETTLED');
    expect((await harness.order('demo', 'yen', orderId)).state).toBe('FAILED');
  });
});

describe('an order that waits', () => {
  it('is asked about ever more rarely, and at the end of its session, when it expires', async () => {
    const { orderId } = await checkedOut(harness);
    await harness.advance(HALF_HOUR_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('WAITING');
    const waiting = await order(orderId);
    expect(waiting.checks?.count).toBe(1);
    // An hour after the first time, give or take the scatter, would be past the session's end.
    const { expiresAtMs } = await attemptOf(harness, orderId);
    expect(dueAtMs(waiting, harness.ledger.settings)).toBe(expiresAtMs + MINUTE_MS);
    await harness.advance(HALF_HOUR_MS + MINUTE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    const after = await order(orderId);
    expect(after.state).toBe('EXPIRED');
    expect(after.checks).toBeUndefined();
    expect(dueAtMs(after, harness.ledger.settings)).toBeUndefined();
  });

  it('while the provider cannot be asked keeps its pace, and is not settled by guessing', async () => {
    const { orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    await harness.advance(HALF_HOUR_MS);
    await harness.simulator.failNextRequests({ method: 'GET', count: 1, status: 500, type: 'api_error' });
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('UNKNOWN');
    const waiting = await order(orderId);
    expect(waiting.state).toBe('SESSION_CREATED');
    expect(waiting.checks?.count).toBe(0);
    await harness.advance(HALF_HOUR_MS + 4 * MINUTE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    expect((await order(orderId)).state).toBe('PAID');
  });
});

describe('what else waits', () => {
  it('a pending refund whose end nobody told of is settled, and booked once', async () => {
    const { id, orderId } = await paidByCard(harness, '20.00');
    await harness.simulator.nextRefunds({ status: 'pending', count: 1 });
    await refund(harness.ledger, merchant(), harness.key(), { orderId: id });
    const [pending] = await harness.refunds('t_1', 'u_1', orderId);
    await harness.simulator.settleRefund({ refund: pending?.providerRefundId ?? '', status: 'succeeded' });
    await harness.advance(HALF_HOUR_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    await applyEvents(harness);
    const after = await order(orderId);
    expect(after.state).toBe('REFUNDED');
    const refunds = await harness.refunds('t_1', 'u_1', orderId);
    expect(refunds.map(({ state }) => state)).toEqual(['SUCCEEDED']);
    const entries = await harness.entries('t_1', 'u_1');
    expect(entries.filter((entry) => entry.orderId === orderId && entry.operation === 'REFUND')).toHaveLength(
      1,
    );
  });

  it('an open dispute that was lost is booked', async () => {
    const { orderId, paymentId } = await paidByCard(harness, '20.00');
    const { id } = await harness.simulator.openDispute({ paymentIntent: paymentId });
    await applyEvents(harness);
    expect((await order(orderId)).disputes[0]?.status).toBe('open');
    await harness.simulator.closeDispute({ dispute: id, status: 'lost' });
    await harness.advance(HALF_HOUR_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    expect((await order(orderId)).disputes[0]).toMatchObject({ status: 'lost', recorded: true });
  });

  it('a second session of an order that money of the first has paid is expired, so that nobody pays twice', async () => {
    const { id, orderId, sessionId } = await checkedOut(harness);
    await harness.advance(60 * MINUTE_MS);
    await checkout(harness.ledger, customer('u_1'), harness.key(), { orderId: id, ...URLS });
    const second = (await attemptOf(harness, orderId)).sessionId ?? '';
    expect(second).not.toBe(sessionId);
    await harness.simulator.payByCard({ session: sessionId, evenIfExpired: true });
    await applyEvents(harness);
    expect((await order(orderId)).state).toBe('PAID');
    await harness.advance(HALF_HOUR_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    expect(await harness.ledger.provider.retrieveSession(second)).toMatchObject({
      value: { status: 'expired' },
    });
    expect((await order(orderId)).attempts.map(({ state }) => state)).toEqual(['CLOSED', 'CLOSED']);
  });

  it('a refund that nobody knows of is taken over at the end of its lease, and its key answered', async () => {
    const { id, orderId } = await paidByCard(harness, '20.00');
    const key = harness.key();
    await harness.simulator.failNextRequests({
      path: '/v1/refunds',
      count: 2,
      status: 500,
      type: 'api_error',
      when: 'after',
    });
    expect(await refund(harness.ledger, merchant(), key, { orderId: id })).toMatchObject({
      kind: 'ProviderUnavailable',
    });
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('NOT_DUE');
    await harness.advance(LEASE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    expect((await order(orderId)).state).toBe('REFUNDED');
    expect(await idempotencyRecordOf(harness, 'refund', key, principalOf(merchant()))).toMatchObject({
      status: 'COMPLETED',
    });
    expect(await refund(harness.ledger, merchant(), key, { orderId: id })).toMatchObject({
      kind: 'RefundSuccess',
      replayed: true,
    });
  });
});

it('a claim is listed as due at the end of its lease', async () => {
  const { orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
  const before = await order(orderId);
  const claimed = claimAttempt(
    before,
    { ...URLS, paymentMethodTypes: ['card'] },
    {
      owner: 'somebody',
      leaseEndMs: harness.clock.nowMs() + LEASE_MS,
      request: { principal: 'customer/u_1', operation: 'checkout', key: 'k' },
      recordTtlS: 9_999_999_999,
    },
    harness.clock.nowMs(),
    harness.ledger.metadataSeal.seal,
  );
  expect(dueAtMs(claimed, harness.ledger.settings)).toBe(harness.clock.nowMs() + LEASE_MS);
});
