import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { refusalOf, sdk, sessionParams, simulator, START_S } from './support.ts';

type LineItem = Stripe.Checkout.SessionCreateParams.LineItem;

function line(currency: string, unitAmount: number): LineItem {
  return { price_data: { currency, unit_amount: unitAmount, product_data: { name: 'Thing' } }, quantity: 1 };
}

describe('who may call', () => {
  it('is decided by the API key', async () => {
    const target = await simulator();
    const wrong = await refusalOf(sdk(target, 'sk_test_wrong').checkout.sessions.list());
    expect(wrong).toBeInstanceOf(Stripe.errors.StripeAuthenticationError);
    expect(wrong).toMatchObject({ statusCode: 401, rawType: 'invalid_request_error' });

    const missing = await fetch(`${target.url}/v1/events`);
    expect(missing.status).toBe(401);
    expect(missing.headers.get('request-id')).toMatch(/^req_/);
  });

  it('must speak the pinned API version, in forms', async () => {
    const target = await simulator();
    const headers = { authorization: 'Bearer sk_test_simulator' };
    const old = await fetch(`${target.url}/v1/events`, {
      headers: { ...headers, 'stripe-version': '2020-08-27' },
    });
    expect(old.status).toBe(400);
    const json = await fetch(`${target.url}/v1/refunds`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"payment_intent":"pi_1"}',
    });
    expect(json.status).toBe(400);
    const unknown = await fetch(`${target.url}/v1/customers`, { headers });
    expect(unknown.status).toBe(404);
    expect(unknown.headers.get('stripe-version')).toBe('2026-10-28.endive');
  });
});

describe('a session is refused', () => {
  it.each<[string, Partial<Stripe.Checkout.SessionCreateParams>, object]>([
    [
      'with a parameter Stripe does not have',
      { payment_intent_data: Object.assign({ metadata: {} }, { meta: 'x' }) },
      { code: 'parameter_unknown', param: 'payment_intent_data[meta]' },
    ],
    [
      'with the list of methods that this API version dropped',
      Object.assign(sessionParams(), { payment_method_types: ['card'] }),
      { code: 'parameter_unknown', param: 'payment_method_types' },
    ],
    ['without lines', { line_items: [] }, { code: 'parameter_missing', param: 'line_items' }],
    [
      'with a fraction of a minor unit',
      { line_items: [line('jpy', 480.5)] },
      { code: 'parameter_invalid_integer', param: 'line_items[0][price_data][unit_amount]' },
    ],
    [
      'in a currency that does not exist',
      { line_items: [line('xxx', 500)] },
      { param: 'line_items[0][price_data][currency]' },
    ],
    ['in two currencies', { line_items: [line('jpy', 500), line('usd', 500)] }, { param: 'line_items' }],
    ['under the smallest charge', { line_items: [line('jpy', 49)] }, { code: 'amount_too_small' }],
    ['over the largest charge', { line_items: [line('jpy', 100_000_000)] }, { code: 'amount_too_large' }],
    [
      'with a three-decimal amount that does not end in 0',
      { line_items: [line('kwd', 18_605)], allowed_payment_method_types: ['card'] },
      { param: 'line_items' },
    ],
    [
      'with hundredths of a currency that has none',
      { line_items: [line('isk', 50_050)], allowed_payment_method_types: ['card'] },
      { param: 'line_items' },
    ],
    ['expiring too soon', { expires_at: START_S + 1799 }, { param: 'expires_at' }],
    ['expiring too late', { expires_at: START_S + 86_401 }, { param: 'expires_at' }],
    ['returning to no web page', { success_url: 'javascript:alert(1)' }, { param: 'success_url' }],
    [
      'with no method that its currency can be paid with',
      { line_items: [line('usd', 500)], allowed_payment_method_types: ['konbini'] },
      { param: 'allowed_payment_method_types' },
    ],
  ])('%s', async (_case, overrides, expected) => {
    const target = await simulator();
    const refusal = await refusalOf(sdk(target).checkout.sessions.create(sessionParams(overrides)));
    expect(refusal).toBeInstanceOf(Stripe.errors.StripeInvalidRequestError);
    expect(refusal).toMatchObject({ statusCode: 400, ...expected });
    expect((await sdk(target).checkout.sessions.list()).data).toEqual([]);
  });

  it('never at the bounds that Stripe allows', async () => {
    const target = await simulator();
    const { sessions } = sdk(target).checkout;
    const shortest = await sessions.create(sessionParams({ expires_at: START_S + 1800 }));
    const longest = await sessions.create(sessionParams({ expires_at: START_S + 86_400 }));
    const dinars = await sessions.create(
      sessionParams({ line_items: [line('kwd', 18_600)], allowed_payment_method_types: ['card', 'konbini'] }),
    );
    expect([shortest.expires_at, longest.expires_at]).toEqual([START_S + 1800, START_S + 86_400]);
    expect(dinars).toMatchObject({ amount_total: 18_600, currency: 'kwd', payment_method_types: ['card'] });
  });
});

describe('a session that is over', () => {
  it('can not be expired', async () => {
    const target = await simulator();
    const { sessions } = sdk(target).checkout;
    const { id } = await sessions.create(sessionParams());
    await target.payByCard({ session: id });
    const refusal = await refusalOf(sessions.expire(id));
    expect(refusal).toMatchObject({ statusCode: 400, rawType: 'invalid_request_error' });
    expect(refusal.message).toContain('has a status of complete');
  });

  it('expires once, with its unpaid payment canceled', async () => {
    const target = await simulator();
    const { sessions } = sdk(target).checkout;
    const { id } = await sessions.create(sessionParams());
    await target.declineCard({ session: id });
    expect(await sessions.expire(id)).toMatchObject({
      status: 'expired',
      payment_status: 'unpaid',
      url: null,
    });
    expect((await refusalOf(sessions.expire(id))).message).toContain('has a status of expired');
    expect(
      target
        .events()
        .slice(-2)
        .map(({ type }) => type),
    ).toEqual(['payment_intent.canceled', 'checkout.session.expired']);
  });

  it('expires by itself when its time has come', async () => {
    const target = await simulator();
    const { id } = await sdk(target).checkout.sessions.create(sessionParams({ expires_at: START_S + 1800 }));
    await target.advanceClock({ ms: 1_799_999 });
    expect((await sdk(target).checkout.sessions.retrieve(id)).status).toBe('open');
    await target.advanceClock({ ms: 1 });
    expect((await sdk(target).checkout.sessions.retrieve(id)).status).toBe('expired');
    expect(target.events().map(({ type, created }) => [type, created])).toEqual([
      ['checkout.session.expired', START_S + 1800],
    ]);
  });
});

describe('what does not exist', () => {
  it('is a missing resource, by path and by parameter', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    expect(await refusalOf(stripe.checkout.sessions.retrieve('cs_none'))).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
    });
    expect(await refusalOf(stripe.paymentIntents.retrieve('pi_none'))).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
      param: 'intent',
    });
    expect(await refusalOf(stripe.refunds.create({ payment_intent: 'pi_none' }))).toMatchObject({
      statusCode: 400,
      code: 'resource_missing',
      param: 'payment_intent',
    });
    expect(await refusalOf(stripe.events.retrieve('evt_none'))).toMatchObject({ statusCode: 404 });
    expect(await refusalOf(stripe.disputes.retrieve('du_none'))).toMatchObject({ statusCode: 404 });
  });

  it('can not be expanded', async () => {
    const target = await simulator();
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    const refusal = await refusalOf(sdk(target).checkout.sessions.retrieve(id, { expand: ['nonsense'] }));
    expect(refusal).toMatchObject({ statusCode: 400, param: 'expand' });
  });
});
