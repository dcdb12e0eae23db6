import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelOrder } from '../../../src/ledger/operations/cancel-order.ts';
import { checkout } from '../../../src/ledger/operations/checkout.ts';
import { customer } from '../../support/harness.ts';
import {
  type ProviderHarness,
  URLS,
  applyEvents,
  checkedOut,
  makeProviderHarness,
  sessionOf,
} from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const alice = customer('u_1');

function state(orderId: string): Promise<string> {
  return harness.order('t_1', 'u_1', orderId).then((order) => order.state);
}

describe('a cancellation', () => {
  it('of an order without a session asks nobody, and repeated gives the same answer', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    const before = harness.calls.length;
    const canceled = { kind: 'CancelOrderSuccess', accountId: 'u_1', orderId };
    expect(await cancelOrder(harness.ledger, alice, key, { orderId: id })).toEqual({
      ...canceled,
      replayed: false,
    });
    expect(await cancelOrder(harness.ledger, alice, key, { orderId: id })).toEqual({
      ...canceled,
      replayed: true,
    });
    expect(harness.calls.slice(before)).toEqual([]);
    expect(await cancelOrder(harness.ledger, alice, harness.key(), { orderId: id })).toMatchObject({
      kind: 'OrderNotCancelable',
      state: 'CANCELED',
    });
  });

  it('of an order with an open session expires it at Stripe first, so that nobody can pay what is canceled', async () => {
    const { id, orderId, sessionId } = await checkedOut(harness);
    expect(await cancelOrder(harness.ledger, alice, harness.key(), { orderId: id })).toMatchObject({
      kind: 'CancelOrderSuccess',
    });
    expect(await harness.ledger.provider.retrieveSession(sessionId)).toMatchObject({
      value: { status: 'expired' },
    });
    expect(await state(orderId)).toBe('CANCELED');
    // The session's own event comes late and changes nothing.
    await applyEvents(harness);
    expect(await state(orderId)).toBe('CANCELED');
    expect(await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS })).toMatchObject({
      kind: 'OrderNotPayable',
      state: 'CANCELED',
    });
  });

  it('that comes when the customer has just paid is refused, and the order is PAID', async () => {
    const { id, orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    expect(await cancelOrder(harness.ledger, alice, harness.key(), { orderId: id })).toEqual({
      kind: 'OrderNotCancelable',
      accountId: 'u_1',
      orderId,
      state: 'PAID',
      replayed: false,
    });
    await applyEvents(harness);
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(order.timeline.filter(({ cause }) => cause === 'PAYMENT_RECEIVED')).toHaveLength(1);
  });

  it('is overruled by money that arrives all the same, visibly', async () => {
    const { id, orderId, sessionId } = await checkedOut(harness);
    await cancelOrder(harness.ledger, alice, harness.key(), { orderId: id });
    await harness.simulator.payByCard({ session: sessionId, evenIfExpired: true });
    await applyEvents(harness);
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(order.state).toBe('PAID');
    expect(order.timeline.map(({ cause }) => cause).slice(-2)).toEqual(['CANCELED', 'PAYMENT_RECEIVED']);
  });

  it('while Stripe cannot be asked leaves the order, and the key usable', async () => {
    const { id, orderId } = await checkedOut(harness);
    const key = harness.key();
    await harness.simulator.failNextRequests({
      method: 'POST',
      path: '/v1/checkout/sessions',
      count: 1,
      status: 500,
      type: 'api_error',
    });
    expect(await cancelOrder(harness.ledger, alice, key, { orderId: id })).toMatchObject({
      kind: 'ProviderUnavailable',
    });
    expect(await state(orderId)).toBe('SESSION_CREATED');
    expect(await cancelOrder(harness.ledger, alice, key, { orderId: id })).toMatchObject({
      kind: 'CancelOrderSuccess',
    });
  });

  it("of somebody else's order looks like an order that isn't there", async () => {
    const { id } = await harness.openOrder('t_1', 'u_1', '20.00');
    expect(await cancelOrder(harness.ledger, customer('u_2'), harness.key(), { orderId: id })).toEqual({
      kind: 'NotFound',
    });
  });
});

describe('a session whose time is over', () => {
  it('is asked about before a new one is made', async () => {
    const { id, orderId, sessionId } = await checkedOut(harness);
    await harness.advance(3_600_000);
    expect(await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS })).toMatchObject({
      kind: 'CheckoutSuccess',
    });
    expect(await sessionOf(harness, orderId)).not.toBe(sessionId);
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(order.timeline.map(({ cause }) => cause)).toEqual([
      'CREATED',
      'CHECKOUT_OPENED',
      'SESSION_EXPIRED',
      'CHECKOUT_OPENED',
    ]);
  });

  it('and was paid in its last second pays the order, instead of a second session being made', async () => {
    const { id, orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    await harness.advance(3_600_000);
    expect(await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS })).toMatchObject({
      kind: 'OrderNotPayable',
      state: 'PAID',
    });
    expect((await harness.order('t_1', 'u_1', orderId)).attempts).toHaveLength(1);
  });
});
