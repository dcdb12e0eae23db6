import { describe, expect, it } from 'vitest';
import { stripePayment, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { topics } from '../../../src/realtime/bus/bus.ts';
import { eventOf, makeWorld, metadataOf } from './support.ts';
import { HOUR_MS, PAID, UNPAID, knowsSession, sessionOf } from './reported-payments.ts';

/** What webhooks of payments that wait, fail or are canceled do, on the engine (docs/DESIGN.md §8, FIELD-CASES C23 to C33). */

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
    const voucher = stripePayment({
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
    await world.apply(eventOf(world, 'payment_intent.requires_action', voucher));
    await world.apply(eventOf(world, 'checkout.session.completed', stripeSession({ ...UNPAID, metadata })));
    expect(await world.now(order)).toMatchObject({
      state: 'PENDING_PAYMENT',
      version: 3,
      voucher: { url: 'https://pay.stripe.test/slip', expiresAtMs: 1_900_300_000_000 },
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
    expect(paid.voucher).toBeUndefined();
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
    const { state, voucher } = await world.now(order);
    expect(state).toBe('PENDING_PAYMENT');
    expect(voucher).toEqual({
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
