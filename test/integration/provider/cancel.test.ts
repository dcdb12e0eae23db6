import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { sweepEvents } from '../../../src/ledger/usecases/provider-updates/sweep-events.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
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

  it('is overruled also where no webhook tells of the money: by the sweep of events, once', async () => {
    await applyEvents(harness);
    const buyer = customer('u_swept');
    const { id, orderId: purchaseId } = await harness.openOrder('t_1', 'u_swept', '20.00');
    await checkout(harness.ledger, buyer, harness.key(), { orderId: id, ...URLS });
    const input = { amount: '7.00', asset: 'ECOPAY', method: 'CHECKOUT' as const, ...URLS };
    const opened = await topUp(harness.ledger, buyer, harness.key(), input);
    if (opened.kind !== 'TopUpSuccess') throw new Error(opened.kind);
    const topUpId = opened.orderId;
    for (const orderId of [purchaseId, topUpId]) {
      const orderNodeId = encodeNodeId('Order', 't_1', 'u_swept', orderId);
      const canceled = await cancelOrder(harness.ledger, buyer, harness.key(), { orderId: orderNodeId });
      expect(canceled.kind).toBe('CancelOrderSuccess');
      const order = await harness.order('t_1', 'u_swept', orderId);
      expect(order.state).toBe('CANCELED');
      const session = order.attempts[0]?.sessionId ?? '';
      await harness.simulator.payByCard({ session, evenIfExpired: true });
    }
    // Nothing of a canceled order waits, so nobody asks about it by itself.
    await harness.advance(24 * 3_600_000);
    const ref = { tenant: 't_1', accountId: 'u_swept', orderId: purchaseId };
    expect(await sweepOrder(harness.ledger, ref)).toBe('SETTLED');
    expect((await harness.order('t_1', 'u_swept', purchaseId)).state).toBe('CANCELED');

    expect(await sweepEvents(harness.ledger, { pauseMs: 0 })).toMatchObject({ left: 0, complete: true });
    await sweepEvents(harness.ledger, { pauseMs: 0 });
    await applyEvents(harness);
    for (const orderId of [purchaseId, topUpId]) {
      const order = await harness.order('t_1', 'u_swept', orderId);
      expect([order.state, order.overpayments, order.receivable.toFixed()]).toEqual(['PAID', [], '0']);
      expect(order.timeline.map(({ from, to, cause }) => [from, to, cause]).slice(-2)).toEqual([
        ['SESSION_CREATED', 'CANCELED', 'CANCELED'],
        ['CANCELED', 'PAID', 'PAYMENT_RECEIVED'],
      ]);
    }
    const entries = await harness.entries('t_1', 'u_swept');
    const recorded = entries.map(({ orderId, operation, postings }) => [
      orderId,
      operation,
      ...postings.map(({ debit, credit, asset, amount }) => [debit, credit, asset, amount.toFixed()]),
    ]);
    expect(recorded).toHaveLength(2);
    expect(recorded).toContainEqual([purchaseId, 'PAYMENT', ['stripe', 'merchant:m_1', 'USD', '20']]);
    expect(recorded).toContainEqual([topUpId, 'TOP_UP', ['stripe', 'wallet:u_swept', 'ECOPAY', '7']]);
    expect(await harness.balance('t_1', 'u_swept')).toBe('7');
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

  it('while Stripe cannot say how a complete session ended is not refused for good', async () => {
    const { id, orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.startBankDebit({ session: sessionId });
    await harness.simulator.failAsyncPayment({ session: sessionId });
    const key = harness.key();
    await harness.simulator.failNextRequests({
      method: 'GET',
      path: '/v1/payment_intents',
      count: 1,
      status: 500,
      type: 'api_error',
    });
    const cancel = async (): Promise<string> =>
      (await cancelOrder(harness.ledger, alice, key, { orderId: id })).kind;
    expect(await cancel()).toBe('ProviderUnavailable');
    expect(await state(orderId)).toBe('SESSION_CREATED');
    // What Stripe says now moves the order first; then it can be canceled, all under the same key.
    expect([await cancel(), await state(orderId)]).toEqual(['TransactionConflict', 'FAILED']);
    expect([await cancel(), await state(orderId)]).toEqual(['CancelOrderSuccess', 'CANCELED']);
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
