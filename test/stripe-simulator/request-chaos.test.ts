import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { paidSession, refusalOf, sdk, simulator } from './support.ts';

describe('a request', () => {
  it('can be answered with an error before its effect, so many times', async () => {
    const target = await simulator();
    const { refunds } = sdk(target);
    const { paymentIntent } = await paidSession(target);
    await target.failNextRequests({ count: 2, status: 503, path: '/v1/refunds', method: 'POST' });
    const create = () => refunds.create({ payment_intent: paymentIntent }, { idempotencyKey: 'k1' });
    const first = await refusalOf(create());
    expect(first).toBeInstanceOf(Stripe.errors.StripeAPIError);
    expect(first.statusCode).toBe(503);
    // Rules are for what matches alone.
    expect((await refunds.list()).data).toEqual([]);
    expect((await refusalOf(create())).statusCode).toBe(503);
    expect((await create()).status).toBe('succeeded');
  });

  it('can fail after its effect, and the key then tells the truth or keeps the failure', async () => {
    const target = await simulator();
    const { refunds } = sdk(target);
    const { paymentIntent } = await paidSession(target);
    const create = (key: string) =>
      refunds.create({ payment_intent: paymentIntent, amount: 100 }, { idempotencyKey: key });

    await target.failNextRequests({ status: 500, when: 'after', path: '/v1/refunds' });
    expect((await refusalOf(create('k1'))).statusCode).toBe(500);
    expect((await create('k1')).amount).toBe(100);

    await target.failNextRequests({ status: 500, when: 'after', stored: true, path: '/v1/refunds' });
    await refusalOf(create('k2'));
    expect((await refusalOf(create('k2'))).statusCode).toBe(500);
    expect((await refunds.list()).data.map(({ amount }) => amount)).toEqual([100, 100]);
  });

  it.each<[number, string | undefined, new (raw: never) => Error]>([
    [402, 'card_error', Stripe.errors.StripeCardError],
    [429, undefined, Stripe.errors.StripeRateLimitError],
    [500, undefined, Stripe.errors.StripeAPIError],
  ])('answered %i is what the SDK makes of it', async (status, type, expected) => {
    const target = await simulator();
    await target.failNextRequests({
      status,
      code: 'some_code',
      ...(type === 'card_error' ? { type, declineCode: 'lost_card' } : {}),
    });
    const refusal = await refusalOf(sdk(target).refunds.create({ payment_intent: 'pi_1' }));
    expect(refusal).toBeInstanceOf(expected);
    expect(refusal).toMatchObject({ statusCode: status, code: 'some_code' });
    expect(refusal.decline_code).toBe(type === 'card_error' ? 'lost_card' : undefined);
  });

  it('that loses its answer once is sent again by the SDK with the same key, and happened once', async () => {
    const target = await simulator();
    const { refunds } = sdk(target);
    const { paymentIntent } = await paidSession(target);
    await target.resetNextRequests({ count: 1, path: '/v1/refunds' });
    const refund = await refunds.create({ payment_intent: paymentIntent, amount: 100 });
    expect(refund.lastResponse.headers['idempotent-replayed']).toBe('true');
    expect((await refunds.list()).data.map(({ id }) => id)).toEqual([refund.id]);
  });

  it('that loses every answer has an unknown outcome, which its key tells later', async () => {
    const target = await simulator();
    const { refunds } = sdk(target);
    const { paymentIntent } = await paidSession(target);
    const create = () => refunds.create({ payment_intent: paymentIntent }, { idempotencyKey: 'k1' });
    await target.resetNextRequests({ count: 2, path: '/v1/refunds' });
    expect(await refusalOf(create())).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    const { data } = await refunds.list();
    expect(data).toHaveLength(1);
    expect((await create()).id).toBe(data[0]?.id);
  });

  it('that is cut off before its effect never happened', async () => {
    const target = await simulator();
    const { refunds } = sdk(target);
    const { paymentIntent } = await paidSession(target);
    await target.resetNextRequests({ count: 2, when: 'before', path: '/v1/refunds' });
    expect(await refusalOf(refunds.create({ payment_intent: paymentIntent }))).toBeInstanceOf(
      Stripe.errors.StripeConnectionError,
    );
    expect((await refunds.list()).data).toEqual([]);
  });

  it('that is answered too late has happened all the same', async () => {
    const target = await simulator();
    const { refunds } = sdk(target);
    const { paymentIntent } = await paidSession(target);
    await target.delayNextResponses({ path: '/v1/refunds' });
    const late = refunds.create({ payment_intent: paymentIntent }, { timeout: 30, idempotencyKey: 'k1' });
    expect(await refusalOf(late)).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    expect((await refunds.list()).data).toHaveLength(1);
    await target.resumeResponses();
  });
});
