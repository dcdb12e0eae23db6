import { describe, expect, it } from 'vitest';
import { stripePayment, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { topics } from '../../../src/realtime/bus/bus.ts';
import { customer } from '../../support/harness.ts';
import { eventOf, makeWorld, metadataOf, rawEvent, rawItem, serveWebhook } from './support.ts';
import { PAID, UNPAID, knowsSession, sessionOf } from './reported-payments.ts';

/** What a payment that arrives does, on the engine (docs/DESIGN.md §8, FIELD-CASES C04 and C23 to C33). */

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
    expect(await world.recorded('alice', 'stripe')).toBe('-500');
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('500');
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
        overpayments: [],
      });
      expect(paid.timeline.map(({ from, to, cause }) => [from, to, cause]).slice(-2)).toEqual([
        ['SESSION_CREATED', 'CANCELED', 'CANCELED'],
        ['CANCELED', 'PAID', 'PAYMENT_RECEIVED'],
      ]);
      expect(paid.refundable.toFixed()).toBe('500');
      expect((await world.entries('demo', 'alice')).map((entry) => entry.operation)).toEqual([operation]);
      expect(await world.balance('demo', 'alice')).toBe(wallet);
      expect(await world.recorded('alice', 'merchant:cafe')).toBe(sold);
      expect(await world.recorded('alice', 'stripe', kind === 'TOP_UP' ? 'ECOPAY' : 'JPY')).toBe('-500');
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
      overpayments: [{ paymentId: 'pi_2' }],
      steps: [{ name: 'refund-surplus:pi_2', state: 'PENDING' }],
    });
    expect(after.timeline.at(-1)).toMatchObject({ cause: 'SURPLUS_RECEIVED', detail: 'pi_2' });
    expect(after.refundable.toFixed()).toBe('500');
    expect(world.counted.get('SurplusPayment')).toBe(1);
    expect(await world.recorded('alice', `surplus:${order.orderId}`)).toBe('500');
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('500');
  });
});

function one<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('there is one');
  return value;
}
