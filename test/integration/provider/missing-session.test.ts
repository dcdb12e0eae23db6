import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderKey } from '../../../src/ledger/kernel/keys.ts';
import { dueAtMs } from '../../../src/ledger/model/orders/due.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { damage } from '../../support/damage.ts';
import { customer } from '../../support/harness.ts';
import {
  type ProviderHarness,
  URLS,
  applyEvents,
  checkedOut,
  idempotencyRecordOf,
  makeProviderHarness,
  sessionsMade,
} from './support.ts';

/** An attempt whose session Stripe doesn't know: its order goes on a quarter of an hour after the session's time. */

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const alice = customer('u_1');
const MINUTE_MS = 60_000;

function ref(orderId: string): { tenant: string; accountId: string; orderId: string } {
  return { tenant: 't_1', accountId: 'u_1', orderId };
}

function orderNow(orderId: string): Promise<Order> {
  return harness.order('t_1', 'u_1', orderId);
}

interface Opened {
  readonly id: string;
  readonly orderId: string;
  readonly sessionId: string;
}

/** An order whose attempt names a session that Stripe never made; what Stripe did make is still there. */
async function withUnknownSession(sessionId = 'cs_test_gone'): Promise<Opened> {
  const opened = await checkedOut(harness);
  await damage(harness, orderKey(ref(opened.orderId)), 'attempts.0.i', { S: sessionId });
  return opened;
}

/** Moves on to so long after the session's time. */
async function afterItsEnd(orderId: string, ms: number): Promise<void> {
  const { attempts } = await orderNow(orderId);
  const endMs = attempts[0]?.expiresAtMs ?? 0;
  await harness.advance(endMs + ms - harness.clock.nowMs());
}

async function checkoutAgain(id: string): Promise<string> {
  return (await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS })).kind;
}

describe('an order whose session the provider does not know', () => {
  it('is let go by the sweeper a quarter of an hour after the session ended, and not before', async () => {
    const { id, orderId } = await withUnknownSession();
    await afterItsEnd(orderId, MINUTE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('WAITING');
    const waiting = await orderNow(orderId);
    expect(waiting.state).toBe('SESSION_CREATED');
    const endMs = waiting.attempts[0]?.expiresAtMs ?? 0;
    expect(dueAtMs(waiting, harness.ledger.settings)).toBe(endMs + 15 * MINUTE_MS);

    await afterItsEnd(orderId, 15 * MINUTE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    const after = await orderNow(orderId);
    expect(after.timeline.at(-1)).toMatchObject({
      from: 'SESSION_CREATED',
      to: 'EXPIRED',
      cause: 'SESSION_EXPIRED',
      detail: 'not known to the provider',
    });
    expect(await checkoutAgain(id)).toBe('CheckoutSuccess');
  });

  it('is let go by the next checkout, by a cancellation, and by no stored refusal', async () => {
    const { id, orderId } = await withUnknownSession();
    const other = await withUnknownSession('cs_test_gone_too');
    const key = harness.key();
    const cancel = async (): Promise<string> =>
      (await cancelOrder(harness.ledger, alice, key, { orderId: other.id })).kind;
    expect(await cancel()).toBe('ProviderUnavailable');
    expect(await idempotencyRecordOf(harness, 'cancelOrder', key)).toBeUndefined();
    await afterItsEnd(orderId, 15 * MINUTE_MS - 1);
    expect(await checkoutAgain(id)).toBe('ProviderUnavailable');
    await afterItsEnd(orderId, 15 * MINUTE_MS);
    const made = await sessionsMade(harness);
    expect(await checkoutAgain(id)).toBe('CheckoutSuccess');
    expect(await sessionsMade(harness)).toBe(made + 1);
    expect([await cancel(), (await orderNow(other.orderId)).state]).toEqual([
      'CancelOrderSuccess',
      'CANCELED',
    ]);
  });

  it('stays while a payment of that attempt stands at the provider, so that nobody pays twice', async () => {
    const { id, orderId, sessionId } = await withUnknownSession();
    const { paymentIntent } = await harness.simulator.payByCard({ session: sessionId });
    await afterItsEnd(orderId, 15 * MINUTE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('WAITING');
    const made = await sessionsMade(harness);
    expect(await checkoutAgain(id)).toBe('ProviderUnavailable');
    expect(await sessionsMade(harness)).toBe(made);
    expect((await orderNow(orderId)).state).toBe('SESSION_CREATED');
    // A person gives the money back, and the order goes on by itself.
    await harness.simulator.dashboardRefund({ paymentIntent: paymentIntent?.id ?? '', amount: 1_999 });
    expect(await checkoutAgain(id)).toBe('ProviderUnavailable');
    await harness.simulator.dashboardRefund({ paymentIntent: paymentIntent?.id ?? '' });
    expect(await checkoutAgain(id)).toBe('CheckoutSuccess');
  });

  it('is paid by the payment that it knows as its own', async () => {
    const { orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.startCardProcessing({ session: sessionId });
    await applyEvents(harness);
    expect((await orderNow(orderId)).attempts[0]?.paymentId).toMatch(/^pi_/);
    await damage(harness, orderKey(ref(orderId)), 'attempts.0.i', { S: 'cs_test_gone' });
    await harness.simulator.payByCard({ session: sessionId });
    await afterItsEnd(orderId, 15 * MINUTE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    const order = await orderNow(orderId);
    expect([order.state, order.overpayments]).toEqual(['PAID', []]);
    const entries = await harness.entries('t_1', 'u_1');
    expect(entries.filter((entry) => entry.orderId === orderId)).toHaveLength(1);
  });

  it('waits for a payment that is to come, then ends with it', async () => {
    const { orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.startBankDebit({ session: sessionId });
    await applyEvents(harness);
    await damage(harness, orderKey(ref(orderId)), 'attempts.0.i', { S: 'cs_test_gone' });
    await afterItsEnd(orderId, 15 * MINUTE_MS);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('WAITING');
    expect((await orderNow(orderId)).state).toBe('PENDING_PAYMENT');
    await harness.simulator.failAsyncPayment({ session: sessionId });
    await harness.advance(26 * 3_600_000);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('SETTLED');
    expect((await orderNow(orderId)).state).toBe('EXPIRED');
  });

  it('is not let go while its payments cannot be listed', async () => {
    const { orderId } = await withUnknownSession();
    await afterItsEnd(orderId, 15 * MINUTE_MS);
    await harness.simulator.failNextRequests({
      method: 'GET',
      path: '/v1/payment_intents',
      count: 1,
      status: 500,
      type: 'api_error',
    });
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('UNKNOWN');
    expect((await orderNow(orderId)).state).toBe('SESSION_CREATED');
  });

  it('is not let go where the id is of the other mode: the key is wrong, not the session', async () => {
    const { id, orderId } = await withUnknownSession('cs_live_gone');
    await afterItsEnd(orderId, 3 * 3_600_000);
    expect(await sweepOrder(harness.ledger, ref(orderId))).toBe('UNKNOWN');
    expect(await checkoutAgain(id)).toBe('ProviderUnavailable');
    expect((await orderNow(orderId)).state).toBe('SESSION_CREATED');
  });
});
