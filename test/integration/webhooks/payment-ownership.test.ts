import { describe, expect, it } from 'vitest';
import {
  stripeDispute,
  stripePayment,
  stripeRefund,
  stripeSession,
} from '../../unit/provider/stripe/stripe-objects.ts';
import { eventOf, makeWorld, metadataOf, rawItem } from './support.ts';
import { HOUR_MS, PAID, knowsSession, paymentOf } from './reported-payments.ts';

/** How webhooks find the order that a payment belongs to, on the engine (docs/DESIGN.md §8, FIELD-CASES C23 to C33). */

describe('whose a payment is', () => {
  it('waits for an order that is not there yet, while the event is under an hour old', async () => {
    const world = await makeWorld();
    const ghost = { tenant: 'demo', order_id: 'alice/01ARZ3NDEKTSV4RRFFQ69G5FAV', attempt: '1' };
    const event = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata: ghost }));
    expect(await world.apply(event)).toEqual({ kind: 'RETRY_LATER', reason: 'NOT_YET' });
    expect(await world.record(event.eventId)).toBeUndefined();
    world.clock.advance(HOUR_MS - 1_000);
    expect(await world.apply(event)).toEqual({ kind: 'RETRY_LATER', reason: 'NOT_YET' });
    world.clock.advance(1_000);
    expect(await world.apply(event)).toMatchObject({ kind: 'DONE', outcome: 'MISMATCH' });
    expect(world.counted.get('WebhookMismatch')).toBe(1);
  });

  it('waits for the session of an attempt that is still being made', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ sessionIds: [], claimed: true });
    const metadata = metadataOf(order);
    knowsSession(world, metadata);
    const session = eventOf(world, 'checkout.session.completed', stripeSession({ ...PAID, metadata }));
    const payment = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata }));
    expect(await world.apply(session)).toEqual({ kind: 'RETRY_LATER', reason: 'NOT_YET' });
    expect(await world.apply(payment)).toEqual({ kind: 'RETRY_LATER', reason: 'NOT_YET' });
    expect(await world.now(order)).toEqual(order);
  });

  it('ignores what names no order of ours, without asking anybody', async () => {
    const world = await makeWorld();
    const event = eventOf(world, 'payment_intent.succeeded', stripePayment({ id: 'pi_x', metadata: {} }));
    expect(await world.apply(event)).toMatchObject({ kind: 'DONE', outcome: 'IGNORED' });
    expect(world.account.asked).toBe(0);
    expect(await world.record(event.eventId)).toMatchObject({ outcome: 'IGNORED' });
  });

  it.each([
    ['another currency', 1, { amount_received: 500, currency: 'usd' }],
    ['another currency with the same exponent', 1, { amount_received: 500, currency: 'krw' }],
    ['too little', 1, { amount_received: 499 }],
    ['too much', 1, { amount_received: 501 }],
    ['another mode', 1, { livemode: true }],
    ['another payment than the session has', 1, { id: 'pi_other' }],
    ['an attempt that never was', 7, {}],
  ])('records a mismatch for %s, and changes nothing', async (_what, attempt, fields) => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    knowsSession(world, metadataOf(order));
    const metadata = metadataOf(order, attempt);
    const event = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata, ...fields }));
    expect(await world.apply(event)).toMatchObject({ kind: 'DONE', outcome: 'MISMATCH' });
    expect(await world.now(order)).toEqual(order);
    expect(await world.entries('demo', 'alice')).toEqual([]);
    expect(world.counted.get('WebhookMismatch')).toBe(1);
    const item = await rawItem(world, { uuid: `stripe#${event.eventId}`, type: 'EVENT' });
    expect(item?.['listed']).toEqual({ S: 'event#MISMATCH#demo#2030-03' });
  });

  it("records a mismatch for metadata that names another tenant's order", async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const other = await world.openOrder('t_1', 'u_1', '5.00');
    knowsSession(world, metadataOf(order));
    const metadata = { tenant: 't_1', order_id: `u_1/${other.orderId}`, attempt: '1' };
    const event = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata }));
    expect(await world.apply(event)).toMatchObject({ kind: 'DONE', outcome: 'MISMATCH' });
    expect((await world.order('t_1', 'u_1', other.orderId)).state).toBe('CREATED');
    expect((await world.now(order)).state).toBe('SESSION_CREATED');
  });

  it('records a mismatch for a session with another payment than it had before', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    knowsSession(world, metadata);
    const declined = stripePayment({ metadata, status: 'requires_payment_method', amount_received: 0 });
    await world.apply(eventOf(world, 'payment_intent.payment_failed', declined));
    const before = await world.now(order);
    expect(before.attempts).toMatchObject([{ sessionId: 'cs_1', paymentId: 'pi_1' }]);
    const other = stripeSession({ ...PAID, metadata, payment_intent: 'pi_other' });
    expect(await world.apply(eventOf(world, 'checkout.session.completed', other))).toMatchObject({
      outcome: 'MISMATCH',
      detail: 'another payment than its attempt has',
    });
    expect(await world.now(order)).toEqual(before);
  });

  it('comes again while the provider cannot tell whose the payment is', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    knowsSession(world, metadataOf(order));
    world.account.down = true;
    const event = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata: metadataOf(order) }));
    expect(await world.apply(event)).toEqual({ kind: 'RETRY_LATER', reason: 'PROVIDER' });
    world.account.down = false;
    expect(await world.apply(event)).toMatchObject({ outcome: 'APPLIED' });
  });
});

describe('a refund or dispute whose payment is not booked yet', () => {
  it('books the payment first, in its own transaction', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    knowsSession(world, metadata);
    world.account.payments.set('pi_1', paymentOf(stripePayment({ metadata })));
    await world.apply(eventOf(world, 'refund.created', stripeRefund({ metadata: {} })));
    await world.apply(eventOf(world, 'charge.dispute.created', stripeDispute({ amount: 100 })));
    const after = await world.now(order);
    expect(after).toMatchObject({
      state: 'PAID',
      disputes: [{ disputeId: 'du_1', status: 'open' }],
    });
    expect(await world.refundsOf(order)).toMatchObject([
      { refundId: 're_1', state: 'SUCCEEDED', source: 'DASHBOARD' },
    ]);
    expect(after.timeline.map(({ cause }) => cause).slice(2)).toEqual([
      'PAYMENT_RECEIVED',
      'REFUND_SUCCEEDED',
      'DISPUTE_OPENED',
    ]);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('300');
  });

  it('comes again while the attempt that its payment names is still being made', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ sessionIds: [], claimed: true });
    world.account.payments.set('pi_1', paymentOf(stripePayment({ metadata: metadataOf(order) })));
    const refund = eventOf(world, 'refund.created', stripeRefund({ metadata: {} }));
    expect(await world.apply(refund)).toEqual({ kind: 'RETRY_LATER', reason: 'NOT_YET' });
    world.clock.advance(HOUR_MS);
    expect(await world.apply(refund)).toMatchObject({ outcome: 'MISMATCH' });
    expect(await world.now(order)).toEqual(order);
  });

  it('is ignored where the payment is not of ours', async () => {
    const world = await makeWorld();
    world.account.payments.set('pi_1', paymentOf(stripePayment({ metadata: {} })));
    expect(await world.apply(eventOf(world, 'refund.created', stripeRefund({ metadata: {} })))).toMatchObject(
      { outcome: 'IGNORED' },
    );
    expect(await world.apply(eventOf(world, 'charge.dispute.created', stripeDispute()))).toMatchObject({
      outcome: 'IGNORED',
    });
  });
});
