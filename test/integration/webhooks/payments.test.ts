import { describe, expect, it } from 'vitest';
import {
  stripeDispute,
  stripePayment,
  stripeRefund,
  stripeSession,
} from '../../unit/stripe/stripe-objects.ts';
import { readPayment, readSession } from '../../../src/stripe/mapping.ts';
import type { ProviderPayment, ProviderSession } from '../../../src/stripe/port.ts';
import { encodeNodeId } from '../../../src/ledger/node-ids.ts';
import { cancelOrder } from '../../../src/ledger/operations/cancel-order.ts';
import { topics } from '../../../src/realtime/bus.ts';
import { customer } from '../../support/harness.ts';
import { type World, eventOf, makeWorld, metadataOf, rawEvent, rawItem, serveWebhook } from './support.ts';

/** What webhooks of payments do, on the engine (docs/DESIGN.md §8, FIELD-CASES C04 and C23 to C33). */

const PAID = { id: 'cs_1', status: 'complete', payment_status: 'paid', payment_intent: 'pi_1', url: null };
const UNPAID = { ...PAID, payment_status: 'unpaid' };
const HOUR_MS = 3_600_000;

function sessionOf(object: unknown): ProviderSession {
  const reading = readSession(object);
  if (reading.kind !== 'READ') throw new Error('unreadable session');
  return reading.value;
}

function paymentOf(object: unknown): ProviderPayment {
  const reading = readPayment(object);
  if (reading.kind !== 'READ') throw new Error('unreadable payment');
  return reading.value;
}

/** The session `cs_1` is there to be asked for, with its payment. */
function knowsSession(world: World, metadata: Readonly<Record<string, string>>): void {
  world.account.sessions.set('cs_1', sessionOf(stripeSession({ ...PAID, metadata })));
}

describe('a payment that arrives', () => {
  it('pays the order, books the entry and the payment item, and records the event', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    const event = eventOf(world, 'checkout.session.completed', stripeSession({ ...PAID, metadata }));

    expect(await world.apply(event)).toMatchObject({ kind: 'DONE', outcome: 'APPLIED', duplicate: false });

    const paid = await world.now(order);
    expect(paid).toMatchObject({
      state: 'PAID',
      version: 3,
      payment: { method: 'CHECKOUT', paymentId: 'pi_1' },
      attempts: [{ number: 1, state: 'CLOSED', paymentId: 'pi_1' }],
    });
    expect(paid.refundable.toFixed()).toBe('500');
    expect(paid.timeline.at(-1)).toMatchObject({
      from: 'SESSION_CREATED',
      to: 'PAID',
      cause: 'PAYMENT_RECEIVED',
      actor: 'stripe',
    });
    const entries = await world.entries('demo', 'alice');
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ operation: 'PAYMENT', orderId: order.orderId, providerId: 'pi_1' });
    expect(await world.booked('alice', 'stripe')).toBe('-500');
    expect(await world.booked('alice', 'merchant:cafe')).toBe('500');
    const payment = await rawItem(world, { uuid: 'stripe#pi_1', type: 'PAYMENT' });
    expect(payment).toMatchObject({ order: { S: order.orderId }, booked_as: { S: 'ORDER' } });
    expect(payment?.['ttl']).toBeUndefined();
    expect(await world.record(event.eventId)).toMatchObject({
      outcome: 'APPLIED',
      type: 'checkout.session.completed',
      objectId: 'cs_1',
      tenant: 'demo',
      ttlS: Math.floor(world.clock.nowMs() / 1000) + 30 * 86_400,
    });
  });

  it('credits a top-up past its cap: money that arrived is never stranded', async () => {
    const world = await makeWorld();
    await world.fund('demo', 'alice', '49900');
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    const metadata = metadataOf(order);
    await world.apply(eventOf(world, 'checkout.session.completed', stripeSession({ ...PAID, metadata })));
    expect((await world.now(order)).state).toBe('PAID');
    expect(await world.balance('demo', 'alice')).toBe('50400');
  });

  it('credits once and publishes once for two event types, in either order and at once', async () => {
    for (const arrangement of ['session first', 'payment first', 'at once']) {
      const world = await makeWorld();
      const order = await world.waitingOrder({ kind: 'TOP_UP' });
      const metadata = metadataOf(order);
      knowsSession(world, metadata);
      let published = 0;
      await world.ledger.bus.subscribe(topics.order(order), () => (published += 1));
      const events = [
        eventOf(world, 'checkout.session.completed', stripeSession({ ...PAID, metadata })),
        eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata })),
      ];
      if (arrangement === 'payment first') events.reverse();
      const settled =
        arrangement === 'at once'
          ? await Promise.all(events.map((event) => world.apply(event)))
          : [await world.apply(one(events[0])), await world.apply(one(events[1]))];
      expect(settled.map(({ kind }) => kind)).toEqual(['DONE', 'DONE']);
      expect(settled.map((each) => (each.kind === 'DONE' ? each.outcome : '')).sort()).toEqual([
        'APPLIED',
        'STALE',
      ]);
      expect(await world.balance('demo', 'alice')).toBe('500');
      expect(await world.entries('demo', 'alice')).toHaveLength(1);
      expect(published).toBe(1);
    }
  });

  it('books a payment of nothing under its session', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ amount: '0' });
    const free = {
      ...PAID,
      payment_status: 'no_payment_required',
      payment_intent: null,
      amount_total: 0,
      metadata: metadataOf(order),
    };
    await world.apply(eventOf(world, 'checkout.session.completed', stripeSession(free)));
    expect(await world.now(order)).toMatchObject({ state: 'PAID', payment: { paymentId: 'cs_1' } });
    expect(await rawItem(world, { uuid: 'stripe#cs_1', type: 'PAYMENT' })).toBeDefined();
  });

  it('wins over an expiry, visibly', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    const expired = { ...UNPAID, status: 'expired', metadata };
    await world.apply(eventOf(world, 'checkout.session.expired', stripeSession(expired)));
    expect((await world.now(order)).state).toBe('EXPIRED');
    await world.apply(eventOf(world, 'checkout.session.completed', stripeSession({ ...PAID, metadata })));
    expect((await world.now(order)).timeline.at(-1)).toMatchObject({
      from: 'EXPIRED',
      to: 'PAID',
      cause: 'PAYMENT_RECEIVED',
    });
  });

  it.each([
    ['PURCHASE', 'PAYMENT', '0', '500'],
    ['TOP_UP', 'TOP_UP', '500', '0'],
  ] as const)(
    'wins over the cancellation of a %s, visibly and once',
    async (kind, operation, wallet, sold) => {
      const world = await makeWorld();
      const endpoint = await serveWebhook(world);
      const order = await world.waitingOrder({ kind });
      const metadata = metadataOf(order);
      const open = {
        ...UNPAID,
        status: 'open',
        payment_intent: null,
        url: 'https://checkout.stripe.test/cs_1',
      };
      world.account.sessions.set('cs_1', sessionOf(stripeSession({ ...open, metadata })));
      const orderId = encodeNodeId('Order', 'demo', 'alice', order.orderId);
      const canceled = await cancelOrder(world.ledger, customer('alice', 'demo'), world.key(), { orderId });
      expect(canceled.kind).toBe('CancelOrderSuccess');
      expect(world.account.sessions.get('cs_1')?.status).toBe('expired');
      expect(await world.now(order)).toMatchObject({ state: 'CANCELED', attempts: [{ state: 'CLOSED' }] });

      knowsSession(world, metadata);
      const events = [
        rawEvent(world, 'checkout.session.completed', stripeSession({ ...PAID, metadata })),
        rawEvent(world, 'payment_intent.succeeded', stripePayment({ metadata })),
        // Of the moment before the money came, and late.
        rawEvent(
          world,
          'checkout.session.expired',
          stripeSession({ ...UNPAID, status: 'expired', metadata }),
        ),
      ];
      const outcomes: unknown[] = [];
      for (const event of [...events, ...events]) outcomes.push(await (await endpoint.deliver(event)).json());
      expect(outcomes).toEqual([
        { outcome: 'APPLIED', duplicate: false },
        { outcome: 'STALE', duplicate: false },
        { outcome: 'STALE', duplicate: false },
        { outcome: 'APPLIED', duplicate: true },
        { outcome: 'STALE', duplicate: true },
        { outcome: 'STALE', duplicate: true },
      ]);

      const paid = await world.now(order);
      expect(paid).toMatchObject({
        state: 'PAID',
        payment: { method: 'CHECKOUT', paymentId: 'pi_1' },
        surplus: [],
      });
      expect(paid.timeline.map(({ from, to, cause }) => [from, to, cause]).slice(-2)).toEqual([
        ['SESSION_CREATED', 'CANCELED', 'CANCELED'],
        ['CANCELED', 'PAID', 'PAYMENT_RECEIVED'],
      ]);
      expect(paid.refundable.toFixed()).toBe('500');
      expect((await world.entries('demo', 'alice')).map((entry) => entry.operation)).toEqual([operation]);
      expect(await world.balance('demo', 'alice')).toBe(wallet);
      expect(await world.booked('alice', 'merchant:cafe')).toBe(sold);
      expect(await world.booked('alice', 'stripe', kind === 'TOP_UP' ? 'ECOPAY' : 'JPY')).toBe('-500');
    },
  );

  it('of two sessions both paid: one pays, the other is surplus with a step that gives it back', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ sessionIds: ['cs_1', 'cs_2'] });
    const second = { ...PAID, id: 'cs_2', payment_intent: 'pi_2', metadata: metadataOf(order, 2) };
    await world.apply(
      eventOf(world, 'checkout.session.completed', stripeSession({ ...PAID, metadata: metadataOf(order) })),
    );
    const settled = await world.apply(eventOf(world, 'checkout.session.completed', stripeSession(second)));
    expect(settled).toMatchObject({ kind: 'DONE', outcome: 'APPLIED' });
    const after = await world.now(order);
    expect(after).toMatchObject({
      state: 'PAID',
      payment: { paymentId: 'pi_1' },
      surplus: [{ paymentId: 'pi_2' }],
      steps: [{ name: 'refund-surplus:pi_2', state: 'PENDING' }],
    });
    expect(after.timeline.at(-1)).toMatchObject({ cause: 'SURPLUS_RECEIVED', detail: 'pi_2' });
    expect(after.refundable.toFixed()).toBe('500');
    expect(world.counted.get('SurplusPayment')).toBe(1);
    expect(await world.booked('alice', `surplus:${order.orderId}`)).toBe('500');
    expect(await world.booked('alice', 'merchant:cafe')).toBe('500');
  });
});

describe('whose a payment is', () => {
  it('waits for an order that is not there yet, while the event is under an hour old', async () => {
    const world = await makeWorld();
    const ghost = { tenant: 'demo', order_id: 'alice/01ARZ3NDEKTSV4RRFFQ69G5FAV', attempt: '1' };
    const event = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata: ghost }));
    expect(await world.apply(event)).toEqual({ kind: 'COME_AGAIN', reason: 'NOT_YET' });
    expect(await world.record(event.eventId)).toBeUndefined();
    world.clock.advance(HOUR_MS - 1_000);
    expect(await world.apply(event)).toEqual({ kind: 'COME_AGAIN', reason: 'NOT_YET' });
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
    expect(await world.apply(session)).toEqual({ kind: 'COME_AGAIN', reason: 'NOT_YET' });
    expect(await world.apply(payment)).toEqual({ kind: 'COME_AGAIN', reason: 'NOT_YET' });
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
    expect(await world.apply(event)).toEqual({ kind: 'COME_AGAIN', reason: 'PROVIDER' });
    world.account.down = false;
    expect(await world.apply(event)).toMatchObject({ outcome: 'APPLIED' });
  });
});

describe('a payment that does not arrive, or not yet', () => {
  it('is declined: noted with its code, and paid after', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    knowsSession(world, metadata);
    const declined = stripePayment({
      metadata,
      status: 'requires_payment_method',
      amount_received: 0,
      last_payment_error: { decline_code: 'insufficient_funds', code: 'card_declined' },
    });
    await world.apply(eventOf(world, 'payment_intent.payment_failed', declined));
    const after = await world.now(order);
    expect(after).toMatchObject({ state: 'SESSION_CREATED', version: 3 });
    expect(after.timeline.at(-1)).toMatchObject({ cause: 'PAYMENT_DECLINED', detail: 'insufficient_funds' });
    await world.apply(eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata })));
    expect((await world.now(order)).state).toBe('PAID');
  });

  it('failed late, after the money came: stale, and nobody hears of it', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    await world.apply(eventOf(world, 'checkout.session.completed', stripeSession({ ...PAID, metadata })));
    const paid = await world.now(order);
    let published = 0;
    await world.ledger.bus.subscribe(topics.order(order), () => (published += 1));
    for (const id of ['pi_1', 'pi_0']) {
      const failed = stripePayment({ id, metadata, status: 'requires_payment_method', amount_received: 0 });
      const event = eventOf(world, 'payment_intent.payment_failed', failed);
      expect(await world.apply(event)).toMatchObject({ kind: 'DONE', outcome: 'STALE' });
    }
    expect(await world.now(order)).toEqual(paid);
    expect(published).toBe(0);
  });

  it('waits at a convenience store: the slip is shown, then the order is paid', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    knowsSession(world, metadata);
    const slip = stripePayment({
      metadata,
      status: 'requires_action',
      amount_received: 0,
      next_action: {
        konbini_display_details: {
          hosted_voucher_url: 'https://pay.stripe.test/slip',
          expires_at: 1_900_300_000,
        },
      },
    });
    await world.apply(eventOf(world, 'payment_intent.requires_action', slip));
    await world.apply(eventOf(world, 'checkout.session.completed', stripeSession({ ...UNPAID, metadata })));
    expect(await world.now(order)).toMatchObject({
      state: 'PENDING_PAYMENT',
      version: 3,
      slip: { url: 'https://pay.stripe.test/slip', expiresAtMs: 1_900_300_000_000 },
      attempts: [{ state: 'CLOSED' }],
    });
    expect(await world.entries('demo', 'alice')).toEqual([]);
    world.clock.advance(48 * HOUR_MS);
    const event = eventOf(
      world,
      'checkout.session.async_payment_succeeded',
      stripeSession({ ...PAID, metadata }),
    );
    await world.apply(event);
    const paid = await world.now(order);
    expect(paid.state).toBe('PAID');
    expect(paid.slip).toBeUndefined();
  });

  it('waits for a bank transfer, which has no deadline: its instructions are shown for thirty days', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    knowsSession(world, metadata);
    const transfer = stripePayment({
      metadata,
      status: 'requires_action',
      amount_received: 0,
      next_action: {
        display_bank_transfer_instructions: { hosted_instructions_url: 'https://pay.stripe.test/transfer' },
      },
    });
    await world.apply(eventOf(world, 'payment_intent.requires_action', transfer));
    const { state, slip } = await world.now(order);
    expect(state).toBe('PENDING_PAYMENT');
    expect(slip).toEqual({
      url: 'https://pay.stripe.test/transfer',
      expiresAtMs: world.clock.nowMs() + 2_592_000_000,
    });
  });

  it('asks for 3-D Secure: nothing changes', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const secure = stripePayment({
      metadata: metadataOf(order),
      status: 'requires_action',
      amount_received: 0,
      next_action: { type: 'use_stripe_sdk' },
    });
    expect(await world.apply(eventOf(world, 'payment_intent.requires_action', secure))).toMatchObject({
      outcome: 'IGNORED',
    });
    expect(await world.now(order)).toEqual(order);
  });

  it('fails after waiting: FAILED, and a late "waiting" cannot bring it back', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const unpaid = stripeSession({ ...UNPAID, metadata: metadataOf(order) });
    await world.apply(eventOf(world, 'checkout.session.async_payment_failed', unpaid));
    expect(await world.apply(eventOf(world, 'checkout.session.completed', unpaid))).toMatchObject({
      outcome: 'STALE',
    });
    const after = await world.now(order);
    expect(after.state).toBe('FAILED');
    expect(after.timeline.at(-1)).toMatchObject({ cause: 'PAYMENT_FAILED' });
  });

  it('of an earlier attempt expires or fails: the current attempt stays open', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ sessionIds: ['cs_1', 'cs_2'] });
    const metadata = metadataOf(order);
    for (const [type, object] of [
      ['checkout.session.expired', stripeSession({ ...UNPAID, status: 'expired', metadata })],
      ['checkout.session.async_payment_failed', stripeSession({ ...UNPAID, metadata })],
    ] as const) {
      await world.apply(eventOf(world, type, object));
    }
    expect(await world.now(order)).toMatchObject({
      state: 'SESSION_CREATED',
      attempts: [{ state: 'CLOSED' }, { state: 'OPEN' }],
    });
  });

  it('is canceled: FAILED, or EXPIRED where its session expired', async () => {
    for (const [status, state] of [
      ['complete', 'FAILED'],
      ['expired', 'EXPIRED'],
    ] as const) {
      const world = await makeWorld();
      const order = await world.waitingOrder();
      const metadata = metadataOf(order);
      world.account.sessions.set('cs_1', sessionOf(stripeSession({ ...UNPAID, status, metadata })));
      const canceled = stripePayment({ metadata, status: 'canceled', amount_received: 0 });
      await world.apply(eventOf(world, 'payment_intent.canceled', canceled));
      expect((await world.now(order)).state).toBe(state);
    }
  });

  it('is funded in part: an event that means nothing to us, and the order waits on', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const partial = stripePayment({ metadata: metadataOf(order), amount_received: 100 });
    expect(await world.apply(eventOf(world, 'payment_intent.partially_funded', partial))).toMatchObject({
      outcome: 'IGNORED',
    });
    expect(await world.now(order)).toEqual(order);
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
      refunds: [{ refundId: 're_1', state: 'SUCCEEDED', source: 'DASHBOARD' }],
      disputes: [{ disputeId: 'du_1', status: 'open' }],
    });
    expect(after.timeline.map(({ cause }) => cause).slice(2)).toEqual([
      'PAYMENT_RECEIVED',
      'REFUND_SUCCEEDED',
      'DISPUTE_OPENED',
    ]);
    expect(await world.booked('alice', 'merchant:cafe')).toBe('300');
  });

  it('comes again while the attempt that its payment names is still being made', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ sessionIds: [], claimed: true });
    world.account.payments.set('pi_1', paymentOf(stripePayment({ metadata: metadataOf(order) })));
    const refund = eventOf(world, 'refund.created', stripeRefund({ metadata: {} }));
    expect(await world.apply(refund)).toEqual({ kind: 'COME_AGAIN', reason: 'NOT_YET' });
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

function one<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('there is one');
  return value;
}
