import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { payableWith } from '../../../src/ledger/model/orders/order-view.ts';
import { updateOrder } from '../../../src/ledger/items/order-writes.ts';
import type { Attempt, Order } from '../../../src/ledger/model/orders/order.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { customer } from '../../support/harness.ts';
import {
  type ProviderHarness,
  URLS,
  applyEvents,
  checkedOut,
  makeProviderHarness,
  idempotencyRecordOf,
  sessionsMade,
} from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const alice = customer('u_1');

function orderNow(orderId: string): Promise<Order> {
  return harness.order('t_1', 'u_1', orderId);
}

function statesOf({ state, attempts }: Order): readonly unknown[] {
  return [state, attempts.map((attempt) => attempt.state)];
}

async function sessionStatus(sessionId: string): Promise<string> {
  const session = await harness.ledger.provider.retrieveSession(sessionId);
  if (session.kind !== 'DONE') throw new Error(`no session: ${session.kind}`);
  return session.value.status;
}

/** An order whose payment was canceled in the dashboard while its session is open, and all of it told. */
async function canceledWhileOpen(): Promise<{ id: string; orderId: string; sessionId: string }> {
  const opened = await checkedOut(harness);
  const { paymentIntent } = await harness.simulator.declineCard({ session: opened.sessionId });
  if (paymentIntent === null) throw new Error('a declined card leaves its payment');
  await harness.simulator.cancelPaymentIntent({ paymentIntent: paymentIntent.id });
  await applyEvents(harness);
  return opened;
}

/** The order as an earlier release may have left it: an end, beside attempts that can still be paid. */
async function leftBehind(open: number): Promise<{ id: string; orderId: string; sessionIds: string[] }> {
  const { id, orderId, sessionId } = await checkedOut(harness);
  const before = await orderNow(orderId);
  const sessionIds = [sessionId];
  const attempts: Attempt[] = [...before.attempts];
  for (let number = 2; number <= open; number += 1) {
    const made = await checkedOut(harness);
    const [attempt] = (await orderNow(made.orderId)).attempts;
    if (attempt === undefined) throw new Error('no attempt');
    attempts.push({ ...attempt, number });
    sessionIds.push(made.sessionId);
  }
  const after: Order = { ...before, state: 'FAILED', rev: before.rev + 1, attempts };
  const { ledger } = harness;
  const part = updateOrder(before, after, ledger.settings);
  expect(await commit(ledger, plan(ledger.ids.token(), part))).toMatchObject({ kind: 'COMMITTED' });
  return { id, orderId, sessionIds };
}

describe('a payment that is canceled while its session is open', () => {
  it('ends nothing: the page can still be paid, and another checkout gives the same one', async () => {
    const { id, orderId, sessionId } = await canceledWhileOpen();
    expect(await sessionStatus(sessionId)).toBe('open');
    expect(statesOf(await orderNow(orderId))).toEqual(['SESSION_CREATED', ['OPEN']]);
    const made = await sessionsMade(harness);
    expect(await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS })).toMatchObject({
      kind: 'CheckoutSuccess',
    });
    expect(await sessionsMade(harness)).toBe(made);
    await harness.simulator.payByCard({ session: sessionId });
    await applyEvents(harness);
    expect(statesOf(await orderNow(orderId))).toEqual(['PAID', ['CLOSED']]);
  });

  it('lets no wallet charge pass beside the page', async () => {
    const { id, orderId } = await canceledWhileOpen();
    await harness.fund('t_1', 'u_1', '100.00');
    expect(await charge(harness.ledger, alice, harness.key(), { orderId: id })).toMatchObject({
      kind: 'OrderNotPayable',
      state: 'SESSION_CREATED',
    });
    expect((await harness.entries('t_1', 'u_1')).filter(({ operation }) => operation === 'CHARGE')).toEqual(
      [],
    );
    expect((await orderNow(orderId)).state).toBe('SESSION_CREATED');
  });

  it('is followed by the end of the session, which ends the attempt', async () => {
    const { orderId, sessionId } = await canceledWhileOpen();
    await harness.simulator.expireSession({ session: sessionId });
    await applyEvents(harness);
    expect(statesOf(await orderNow(orderId))).toEqual(['EXPIRED', ['CLOSED']]);
  });
});

describe('an attempt that is open whatever the state of its order', () => {
  it('stops a wallet charge and another checkout, and neither is stored', async () => {
    const { id, orderId } = await leftBehind(1);
    await harness.fund('t_1', 'u_1', '100.00');
    const made = await sessionsMade(harness);
    const key = harness.key();
    const entries = (await harness.entries('t_1', 'u_1')).length;
    const conflict = { kind: 'TransactionConflict', retryAfterMs: 500 };
    expect(await charge(harness.ledger, alice, key, { orderId: id })).toEqual(conflict);
    expect(await checkout(harness.ledger, alice, key, { orderId: id, ...URLS })).toEqual(conflict);
    expect(await idempotencyRecordOf(harness, 'charge', key)).toBeUndefined();
    expect(await idempotencyRecordOf(harness, 'checkout', key)).toBeUndefined();
    expect(await sessionsMade(harness)).toBe(made);
    expect(await harness.entries('t_1', 'u_1')).toHaveLength(entries);
    expect(statesOf(await orderNow(orderId))).toEqual(['FAILED', ['OPEN']]);
  });

  it('is over with its session, and the order can be paid again', async () => {
    const { id, orderId } = await leftBehind(1);
    await harness.advance(3_600_000);
    expect(await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS })).toMatchObject({
      kind: 'CheckoutSuccess',
    });
    expect(statesOf(await orderNow(orderId))).toEqual(['SESSION_CREATED', ['CLOSED', 'OPEN']]);
  });

  it('is expired at Stripe by a cancellation, and so is every other one', async () => {
    const { id, orderId, sessionIds } = await leftBehind(2);
    expect(await cancelOrder(harness.ledger, alice, harness.key(), { orderId: id })).toMatchObject({
      kind: 'CancelOrderSuccess',
    });
    expect(await Promise.all(sessionIds.map(sessionStatus))).toEqual(['expired', 'expired']);
    expect(statesOf(await orderNow(orderId))).toEqual(['CANCELED', ['CLOSED', 'CLOSED']]);
  });

  it('shows clients no way to pay beside it', async () => {
    const { orderId } = await leftBehind(1);
    expect(payableWith(await orderNow(orderId), harness.clock.nowMs())).toEqual([]);
  });
});
