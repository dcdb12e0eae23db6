import Stripe from 'stripe';
import { describe, expect, it, vi } from 'vitest';
import { paidSession, refusalOf, sdk, sessionParams, simulator } from './support.ts';

describe('an idempotency key', () => {
  it('with the same parameters gives the first answer, and nothing happens twice', async () => {
    const target = await simulator();
    const { sessions } = sdk(target).checkout;
    const first = await sessions.create(sessionParams(), { idempotencyKey: 'k1' });
    const again = await sessions.create(sessionParams(), { idempotencyKey: 'k1' });
    expect(again.id).toBe(first.id);
    expect(again.lastResponse.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'original-request': first.lastResponse.requestId,
      'idempotency-key': 'k1',
    });
    expect(first.lastResponse.headers['idempotent-replayed']).toBeUndefined();
    expect(again.lastResponse.requestId).not.toBe(first.lastResponse.requestId);
    expect((await sessions.list()).data).toHaveLength(1);
  });

  it('replays the answer as it was, not as things are now', async () => {
    const target = await simulator();
    const { sessions } = sdk(target).checkout;
    const { id } = await sessions.create(sessionParams(), { idempotencyKey: 'k1' });
    await target.payByCard({ session: id });
    const again = await sessions.create(sessionParams(), { idempotencyKey: 'k1' });
    expect(again).toMatchObject({ id, status: 'open', payment_intent: null });
  });

  it('with other parameters, or on another endpoint, is an idempotency error', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { paymentIntent } = await paidSession(target);
    await stripe.refunds.create({ payment_intent: paymentIntent, amount: 100 }, { idempotencyKey: 'k1' });
    const otherAmount = await refusalOf(
      stripe.refunds.create({ payment_intent: paymentIntent, amount: 200 }, { idempotencyKey: 'k1' }),
    );
    expect(otherAmount).toBeInstanceOf(Stripe.errors.StripeIdempotencyError);
    expect(otherAmount).toMatchObject({ statusCode: 400, rawType: 'idempotency_error' });
    const otherEndpoint = await refusalOf(
      stripe.checkout.sessions.create(sessionParams(), { idempotencyKey: 'k1' }),
    );
    expect(otherEndpoint).toBeInstanceOf(Stripe.errors.StripeIdempotencyError);
    expect((await stripe.refunds.list()).data.map(({ amount }) => amount)).toEqual([100]);
  });

  it('in flight is refused with 409, and replays once the first is answered', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { paymentIntent } = await paidSession(target);
    await target.delayNextResponses({ path: '/v1/refunds', method: 'POST' });
    const create = () =>
      stripe.refunds.create({ payment_intent: paymentIntent, amount: 100 }, { idempotencyKey: 'k1' });

    const first = create();
    await vi.waitFor(async () => {
      expect(await target.delayedResponses()).toEqual({ waiting: 1 });
    });
    expect(await refusalOf(create())).toMatchObject({ statusCode: 409, code: 'idempotency_key_in_use' });
    expect(await target.resumeResponses()).toEqual({ resumed: 1 });
    const { id } = await first;
    expect((await create()).id).toBe(id);
    expect((await stripe.refunds.list()).data).toHaveLength(1);
  });

  it('is not bound by a request that failed validation', async () => {
    const target = await simulator();
    const { sessions } = sdk(target).checkout;
    const wrong = sessionParams({ success_url: 'nowhere' });
    await refusalOf(sessions.create(wrong, { idempotencyKey: 'k1' }));
    expect((await sessions.create(sessionParams(), { idempotencyKey: 'k1' })).status).toBe('open');
  });

  it('is bound by a refusal that came from running the request', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { paymentIntent } = await paidSession(target);
    await stripe.refunds.create({ payment_intent: paymentIntent, amount: 900 });
    const tooMuch = () =>
      stripe.refunds.create({ payment_intent: paymentIntent, amount: 100 }, { idempotencyKey: 'k1' });
    expect((await refusalOf(tooMuch())).message).toContain('greater than unrefunded amount');
    const { data } = await stripe.refunds.list();
    await target.settleRefund({ refund: data[0]?.id ?? '', status: 'failed' });
    // All 960 could be refunded again, yet the key keeps its no.
    const replayed = await refusalOf(tooMuch());
    expect(replayed.message).toContain('greater than unrefunded amount');
    expect(replayed.headers).toMatchObject({ 'idempotent-replayed': 'true' });
  });

  it('is forgotten after 24 hours', async () => {
    const target = await simulator();
    const { sessions } = sdk(target).checkout;
    const first = await sessions.create(sessionParams(), { idempotencyKey: 'k1' });
    await target.advanceClock({ ms: 86_399_000 });
    expect((await sessions.create(sessionParams(), { idempotencyKey: 'k1' })).id).toBe(first.id);
    await target.advanceClock({ ms: 1000 });
    expect((await sessions.create(sessionParams(), { idempotencyKey: 'k1' })).id).not.toBe(first.id);
  });
});
