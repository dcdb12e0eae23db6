import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PaymentProvider, SessionRequest } from '../../../../src/provider/port.ts';
import { createStripeProvider } from '../../../../src/provider/stripe/stripe-adapter.ts';
import { METADATA, ORDER_PATH, stripeList, stripeRefund, stripeSession } from './stripe-objects.ts';
import {
  json,
  providerAt,
  startStripeShapedServer,
  type StripeShapedServer,
} from './stripe-shaped-server.ts';

let server: StripeShapedServer;
let provider: PaymentProvider;

beforeAll(async () => {
  server = await startStripeShapedServer();
  provider = providerAt(server.origin);
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(() => server.close());

const SESSION: SessionRequest = {
  idempotencyKey: 'key-1',
  orderId: ORDER_PATH,
  metadata: { ...METADATA, attempt: '2' },
  currency: 'JPY',
  lines: [{ name: 'Coffee ☕', quantity: 1, unitAmountMinor: 500 }],
  merchantMetadata: {},
  successUrl: 'https://shop.example/paid?session={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://shop.example/back',
  paymentMethodTypes: ['card', 'konbini'],
  expiresAtS: 1_800_001_800,
};

/** What Stripe would read out of the last request's body. */
function fields(): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(server.requests.at(-1)?.body));
}

test('a session leaves as these fields and no other, JPY 500 as 500', async () => {
  server.replyWith(json(200, stripeSession()));
  expect(await provider.createSession(SESSION)).toMatchObject({
    kind: 'DONE',
    value: { sessionId: 'cs_test_1', amountMinor: 500, currency: 'JPY' },
  });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/v1/checkout/sessions',
    headers: {
      authorization: 'Bearer sk_test_1',
      'content-type': 'application/x-www-form-urlencoded',
      'idempotency-key': 'key-1',
      'stripe-version': '2026-10-28.endive',
    },
  });
  expect(fields()).toEqual({
    mode: 'payment',
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'jpy',
    'line_items[0][price_data][unit_amount]': '500',
    'line_items[0][price_data][product_data][name]': 'Coffee ☕',
    'allowed_payment_method_types[0]': 'card',
    'allowed_payment_method_types[1]': 'konbini',
    client_reference_id: 'alice/01ARZ3NDEKTSV4RRFFQ69G5FAV',
    expires_at: '1800001800',
    success_url: 'https://shop.example/paid?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://shop.example/back',
    'metadata[tenant]': 'demo',
    'metadata[order_id]': 'alice/01ARZ3NDEKTSV4RRFFQ69G5FAV',
    'metadata[attempt]': '2',
    'payment_intent_data[metadata][tenant]': 'demo',
    'payment_intent_data[metadata][order_id]': 'alice/01ARZ3NDEKTSV4RRFFQ69G5FAV',
    'payment_intent_data[metadata][attempt]': '2',
  });
});

test('a session shows every line, and keeps the merchant’s metadata beside ours', async () => {
  server.replyWith(json(200, stripeSession({ amount_total: 1_310 })));
  const lines = [
    { name: 'Coffee', quantity: 2, unitAmountMinor: 480 },
    { name: 'Toast', quantity: 1, unitAmountMinor: 350 },
  ];
  await provider.createSession({ ...SESSION, lines, merchantMetadata: { m_cart: 'c-77', m_tenant: 'mine' } });
  expect(fields()).toMatchObject({
    'line_items[0][quantity]': '2',
    'line_items[0][price_data][unit_amount]': '480',
    'line_items[0][price_data][product_data][name]': 'Coffee',
    'line_items[1][quantity]': '1',
    'line_items[1][price_data][currency]': 'jpy',
    'line_items[1][price_data][unit_amount]': '350',
    'line_items[1][price_data][product_data][name]': 'Toast',
    'metadata[tenant]': 'demo',
    'metadata[m_tenant]': 'mine',
    'metadata[m_cart]': 'c-77',
    'payment_intent_data[metadata][m_cart]': 'c-77',
  });
});

test('the bytes of an amount and its metadata are form-encoded', async () => {
  server.replyWith(json(200, stripeSession({ amount_total: 18_600, currency: 'kwd' })));
  await provider.createSession({
    ...SESSION,
    currency: 'KWD',
    lines: [{ name: 'Tea', quantity: 1, unitAmountMinor: 18_600 }],
  });
  const body = server.requests[0]?.body ?? '';
  expect(body).toContain('line_items[0][price_data][currency]=kwd');
  expect(body).toContain('line_items[0][price_data][unit_amount]=18600');
  expect(body).toContain('metadata[order_id]=alice%2F01ARZ3NDEKTSV4RRFFQ69G5FAV');
});

test('a refund leaves as these fields and no other', async () => {
  server.replyWith(json(200, stripeRefund()));
  const refund = await provider.createRefund({
    idempotencyKey: 'key-2',
    paymentId: 'pi_1',
    amountMinor: 200,
    tenant: 'demo',
    orderId: ORDER_PATH,
    refundId: 'refund-1',
  });
  expect(refund).toMatchObject({ kind: 'DONE', value: { providerRefundId: 're_1', status: 'succeeded' } });
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/v1/refunds',
    headers: { 'idempotency-key': 'key-2', 'stripe-version': '2026-10-28.endive' },
  });
  expect(fields()).toEqual({
    payment_intent: 'pi_1',
    amount: '200',
    'metadata[tenant]': 'demo',
    'metadata[order_id]': 'alice/01ARZ3NDEKTSV4RRFFQ69G5FAV',
    'metadata[refund_id]': 'refund-1',
  });
});

test('an expiry carries our key as well', async () => {
  server.replyWith(json(200, stripeSession({ status: 'expired', url: null })));
  expect(await provider.expireSession('cs_test_1', 'key-3')).toMatchObject({
    kind: 'DONE',
    value: { status: 'expired' },
  });
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/v1/checkout/sessions/cs_test_1/expire',
    headers: { 'idempotency-key': 'key-3' },
  });
});

test('nothing about the machine or earlier calls is sent along', async () => {
  server.replyWith(json(200, stripeSession()));
  await provider.retrieveSession('cs_test_1');
  await provider.retrieveSession('cs_test_1');
  for (const { headers } of server.requests) {
    expect(headers['x-stripe-client-telemetry']).toBeUndefined();
    expect(headers['x-stripe-client-user-agent']).not.toMatch(/linux|darwin|win32/i);
  }
});

test.each([
  ['listPayments', {}, '/v1/payment_intents?'],
  ['listRefunds', { paymentId: 'pi_1' }, '/v1/refunds?payment_intent=pi_1&'],
  ['listDisputes', { paymentId: 'pi_1' }, '/v1/disputes?payment_intent=pi_1&'],
  ['listEvents', {}, '/v1/events?'],
] as const)('%s asks for its page', async (method, filter, path) => {
  server.replyWith(json(200, stripeList([])));
  const page = { limit: 50, createdFromS: 1_800_000_000, after: 'xx_9', ...filter };
  expect(await provider[method](page)).toEqual({ kind: 'DONE', value: { items: [], hasMore: false } });
  const [pathname, query] = (server.requests[0]?.path ?? '').split('?');
  const sent = Object.fromEntries(new URLSearchParams(query));
  expect(`${pathname ?? ''}?`).toBe(path.slice(0, path.indexOf('?') + 1));
  expect(sent).toEqual({
    limit: '50',
    'created[gte]': '1800000000',
    starting_after: 'xx_9',
    ...('paymentId' in filter && { payment_intent: 'pi_1' }),
    ...(method === 'listEvents' && LISTED_TYPES),
  });
});

/** Those that docs/OPERATIONS.md has the endpoint subscribe to, and no other. */
const LISTED_TYPES = Object.fromEntries(
  [
    'checkout.session.completed',
    'checkout.session.async_payment_succeeded',
    'checkout.session.async_payment_failed',
    'checkout.session.expired',
    'payment_intent.succeeded',
    'payment_intent.processing',
    'payment_intent.requires_action',
    'payment_intent.payment_failed',
    'payment_intent.canceled',
    'refund.created',
    'refund.updated',
    'refund.failed',
    'charge.refunded',
    'charge.dispute.created',
    'charge.dispute.updated',
    'charge.dispute.closed',
    'charge.dispute.funds_withdrawn',
    'charge.dispute.funds_reinstated',
  ].map((type, index) => [`types[${String(index)}]`, type]),
);

test('a page of foreign refunds alone is passed over, and none is returned', async () => {
  server.replyWith(
    json(200, stripeList([stripeRefund({ id: 're_8', payment_intent: null })], true)),
    json(200, stripeList([stripeRefund({ id: 're_7', payment_intent: null }), stripeRefund()], true)),
  );
  expect(await provider.listRefunds({ limit: 2 })).toMatchObject({
    kind: 'DONE',
    value: { items: [{ providerRefundId: 're_1' }], hasMore: true },
  });
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/v1/refunds?limit=2',
    '/v1/refunds?limit=2&starting_after=re_8',
  ]);
});

test('a refund that cannot be read is never taken for one that is not there', async () => {
  server.replyWith(json(200, stripeList([stripeRefund(), stripeRefund({ amount: 'much' })])));
  expect(await provider.listRefunds({ limit: 2, paymentId: 'pi_1' })).toEqual({
    kind: 'UNKNOWN',
    reason: 'unreadable_answer',
  });
});

test('an endless list ends', async () => {
  server.replyWith(json(200, stripeList([], true)));
  expect(await provider.listEvents({ limit: 2 })).toEqual({
    kind: 'DONE',
    value: { items: [], hasMore: false },
  });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['sk_live_1', true],
  ['rk_live_1', true],
  ['sk_test_1', false],
  ['rk_test_1', false],
  ['sk_test_sk_live_1', false],
])('%s moves real money: %s', (secretKey, livemode) => {
  const options = { secretKey, webhookSecrets: ['whsec_1'], timeoutMs: 1_000 };
  expect(createStripeProvider(options).livemode).toBe(livemode);
});

test('an API base that is no web address stops start-up', () => {
  expect(() => providerAt(new URL('ftp://127.0.0.1'))).toThrow(/API base/);
});
