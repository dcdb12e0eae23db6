import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { classifyFailure } from '../../../../src/provider/stripe/calls.ts';
import type { PaymentProvider, ProviderResult, RefundRequest } from '../../../../src/provider/port.ts';
import { freePort } from '../../../../dev/engine/free-port.ts';
import {
  ORDER_PATH,
  stripeEvent,
  stripeList,
  stripePayment,
  stripeRefund,
  stripeSession,
} from './stripe-objects.ts';
import {
  json,
  providerAt,
  type Reply,
  reset,
  silence,
  startStripeShapedServer,
  stripeError,
  type StripeShapedServer,
} from './stripe-shaped-server.ts';

let server: StripeShapedServer;
let provider: PaymentProvider;

beforeEach(async () => {
  server = await startStripeShapedServer();
  provider = providerAt(server.origin);
});
afterEach(() => server.close());

const REFUND: RefundRequest = {
  idempotencyKey: 'key-1',
  paymentId: 'pi_1',
  amountMinor: 200,
  tenant: 'demo',
  orderId: ORDER_PATH,
  refundId: 'refund-1',
};

const raw =
  (status: number, body: string): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(body);
  };

/** The headers and half of the body, then the end of the connection. */
const truncated: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id":"re_1",', () => response.socket?.destroy());
};

type Outcome = ProviderResult<unknown>;

const cases: readonly (readonly [string, Reply, Outcome])[] = [
  [
    'a declined card',
    stripeError(402, { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds' }),
    { kind: 'REFUSED', code: 'insufficient_funds' },
  ],
  [
    'a card error without a decline code',
    stripeError(402, { type: 'card_error', code: 'expired_card' }),
    { kind: 'REFUSED', code: 'expired_card' },
  ],
  [
    'an invalid request',
    stripeError(400, { type: 'invalid_request_error', code: 'charge_already_refunded' }),
    { kind: 'REFUSED', code: 'charge_already_refunded' },
  ],
  [
    'an invalid request without a code',
    stripeError(400, { type: 'invalid_request_error' }),
    { kind: 'REFUSED', code: 'invalid_request_error' },
  ],
  [
    'a code that might be text about a person',
    stripeError(400, { type: 'invalid_request_error', code: 'Alice has no card' }),
    { kind: 'REFUSED', code: 'invalid_request_error' },
  ],
  [
    'something that is not there',
    stripeError(404, { type: 'invalid_request_error', code: 'resource_missing' }),
    { kind: 'REFUSED', code: 'resource_missing' },
  ],
  [
    'the key with other parameters',
    stripeError(400, { type: 'idempotency_error' }),
    { kind: 'UNKNOWN', reason: 'idempotency_mismatch' },
  ],
  [
    'the key while it is in use',
    stripeError(409, { type: 'idempotency_error', code: 'idempotency_key_in_use' }),
    { kind: 'UNKNOWN', reason: 'idempotency_key_in_use' },
  ],
  [
    'the key in use, told as an invalid request',
    stripeError(400, { type: 'invalid_request_error', code: 'idempotency_key_in_use' }),
    { kind: 'UNKNOWN', reason: 'idempotency_key_in_use' },
  ],
  [
    'a rate limit',
    stripeError(429, { type: 'invalid_request_error', code: 'rate_limit' }),
    { kind: 'UNAVAILABLE', reason: 'rate_limited' },
  ],
  [
    'rejected credentials',
    stripeError(401, { type: 'invalid_request_error' }),
    { kind: 'UNAVAILABLE', reason: 'credentials_rejected' },
  ],
  [
    'a missing permission',
    stripeError(403, { type: 'invalid_request_error' }),
    { kind: 'UNAVAILABLE', reason: 'permission_denied' },
  ],
  ['a server error', stripeError(500, { type: 'api_error' }), { kind: 'UNKNOWN', reason: 'provider_error' }],
  [
    'a server error that is stored for its key',
    (response) => {
      response.writeHead(500, { 'content-type': 'application/json', 'idempotent-replayed': 'true' });
      response.end(JSON.stringify({ error: { type: 'api_error' } }));
    },
    { kind: 'UNKNOWN', reason: 'provider_error', isStored: true },
  ],
  ['a conflict', stripeError(409, { type: 'api_error' }), { kind: 'UNKNOWN', reason: 'provider_error' }],
  ['a bad gateway', raw(502, '<html>Bad gateway</html>'), { kind: 'UNKNOWN', reason: 'provider_error' }],
  ["a proxy's own refusal", json(403, { error: 'forbidden' }), { kind: 'UNKNOWN', reason: 'provider_error' }],
  [
    "a proxy's own 503 in JSON",
    json(503, { message: 'unavailable' }),
    { kind: 'UNKNOWN', reason: 'unreadable_answer' },
  ],
  ['an answer that is null', raw(200, 'null'), { kind: 'UNKNOWN', reason: 'unexpected_error' }],
  ['an answer of another kind', json(200, stripePayment()), { kind: 'UNKNOWN', reason: 'unreadable_answer' }],
  [
    'a made refund that lacks its payment',
    json(200, stripeRefund({ payment_intent: null })),
    { kind: 'UNKNOWN', reason: 'unreadable_answer' },
  ],
  ['a truncated answer', truncated, { kind: 'UNKNOWN', reason: 'connection_error' }],
  ['a reset connection', reset, { kind: 'UNKNOWN', reason: 'connection_lost' }],
];

test.each(cases)('%s: one request, one judgement', async (_, reply, expected) => {
  server.replyWith(reply);
  expect(await provider.createRefund(REFUND)).toEqual(expected);
  expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['key-1']);
});

describe('what a reset leaves open', () => {
  test('is not closed by the next answer: the request is not sent again behind our back', async () => {
    server.replyWith(reset, stripeError(429, { type: 'invalid_request_error', code: 'rate_limit' }));
    expect(await provider.createRefund(REFUND)).toEqual({ kind: 'UNKNOWN', reason: 'connection_lost' });
    expect(server.requests).toHaveLength(1);
  });

  test('is answered by asking again with the same key', async () => {
    server.replyWith(reset, json(200, stripeRefund()));
    await provider.createRefund(REFUND);
    expect(await provider.createRefund(REFUND)).toMatchObject({ kind: 'DONE' });
    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['key-1', 'key-1']);
    expect(server.requests[0]?.body).toBe(server.requests[1]?.body);
  });
});

test('silence is unknown once the time-out has passed', async () => {
  server.replyWith(silence);
  const impatient = providerAt(server.origin, { timeoutMs: 500 });
  expect(await impatient.createRefund(REFUND)).toEqual({ kind: 'UNKNOWN', reason: 'timeout' });
  expect(server.requests).toHaveLength(1);
});

test('silence in the middle of an answer is unknown as well', async () => {
  server.replyWith((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"id":');
  });
  const impatient = providerAt(server.origin, { timeoutMs: 500 });
  expect(await impatient.createRefund(REFUND)).toEqual({ kind: 'UNKNOWN', reason: 'timeout' });
});

test('a refused connection is unavailable: nothing was sent', async () => {
  const unreachable = providerAt(new URL(`http://127.0.0.1:${await freePort()}`));
  expect(await unreachable.createRefund(REFUND)).toEqual({ kind: 'UNAVAILABLE', reason: 'no_connection' });
});

test.each([
  ['ENOTFOUND', { kind: 'UNAVAILABLE', reason: 'no_connection' }],
  ['EAI_AGAIN', { kind: 'UNAVAILABLE', reason: 'no_connection' }],
  ['ETIMEDOUT', { kind: 'UNKNOWN', reason: 'timeout' }],
  ['EHOSTUNREACH', { kind: 'UNKNOWN', reason: 'connection_error' }],
  ['CERT_HAS_EXPIRED', { kind: 'UNKNOWN', reason: 'connection_error' }],
])('a connection that failed with %s is judged by whether it was ever made', (code, expected) => {
  const detail = Object.assign(new Error('to alice@example.com'), { code });
  const error = new Stripe.errors.StripeConnectionError({ message: 'no', type: 'api_error', detail });
  expect(classifyFailure(error)).toEqual(expected);
});

describe('expiring a session that Stripe refuses to expire', () => {
  const refusal = stripeError(400, { type: 'invalid_request_error' });

  test('is done if it has expired already', async () => {
    server.replyWith(refusal, json(200, stripeSession({ status: 'expired', url: null })));
    expect(await provider.expireSession('cs_test_1', 'key-1')).toMatchObject({
      kind: 'DONE',
      value: { sessionId: 'cs_test_1', status: 'expired' },
    });
  });

  test('is refused as not open if it is complete', async () => {
    server.replyWith(refusal, json(200, stripeSession({ status: 'complete', payment_status: 'paid' })));
    expect(await provider.expireSession('cs_test_1', 'key-1')).toEqual({
      kind: 'REFUSED',
      code: 'session_not_open',
    });
  });

  test('is refused as Stripe said if it is open still', async () => {
    server.replyWith(refusal, json(200, stripeSession()));
    expect(await provider.expireSession('cs_test_1', 'key-1')).toEqual({
      kind: 'REFUSED',
      code: 'invalid_request_error',
    });
  });

  test('is unknown if the session cannot be looked at', async () => {
    server.replyWith(refusal, reset);
    expect(await provider.expireSession('cs_test_1', 'key-1')).toEqual({
      kind: 'UNKNOWN',
      reason: 'connection_lost',
    });
  });

  test('is refused if there is none', async () => {
    server.replyWith(stripeError(404, { type: 'invalid_request_error', code: 'resource_missing' }));
    expect(await provider.expireSession('cs_test_1', 'key-1')).toEqual({
      kind: 'REFUSED',
      code: 'resource_missing',
    });
  });
});

describe('the events API', () => {
  const noId = stripeEvent('payment_intent.succeeded', { object: 'payment_intent' }, { id: 'evt#9' });

  test('reads an event as the webhook does', async () => {
    server.replyWith(json(200, stripeEvent('payment_intent.succeeded', stripePayment())));
    expect(await provider.retrieveEvent('evt_1')).toMatchObject({
      kind: 'DONE',
      value: { eventId: 'evt_1', object: { kind: 'payment', payment: { paymentId: 'pi_1' } } },
    });
  });

  test('lists past one without an id, and tells of it when asked for it', async () => {
    const sound = stripeEvent('customer.created', {}, { id: 'evt_2' });
    server.replyWith(json(200, stripeList([noId, sound])), json(200, noId));
    expect(await provider.listEvents({ limit: 10 })).toMatchObject({
      kind: 'DONE',
      value: { items: [{ eventId: 'evt_2' }], hasMore: false },
    });
    expect(await provider.retrieveEvent('evt_9')).toEqual({ kind: 'UNKNOWN', reason: 'unreadable_answer' });
  });
});

describe('an error before anything was sent', () => {
  const half = '\ud83c';

  test('of a request that cannot be written is definite: nothing happened', async () => {
    const session = {
      ...REFUND,
      metadata: {},
      currency: 'JPY',
      lines: [{ name: `sushi ${half}`, quantity: 1, unitAmountMinor: 500 }],
      merchantMetadata: {},
      successUrl: 'https://shop.example/paid',
      cancelUrl: 'https://shop.example/back',
      paymentMethodTypes: ['card'],
      expiresAtS: 1_900_000_000,
    };
    const notSent = { kind: 'UNAVAILABLE', reason: 'not_sent' };
    expect(await provider.createSession(session)).toEqual(notSent);
    expect(await provider.createRefund({ ...REFUND, orderId: half })).toEqual(notSent);
    expect(await provider.retrievePayment(half)).toEqual(notSent);
    expect(await provider.listRefunds({ paymentId: half, limit: 1 })).toEqual(notSent);
    expect(server.requests).toEqual([]);
  });

  test('is told from another call that is under way', async () => {
    server.replyWith(silence);
    const slow = providerAt(server.origin, { timeoutMs: 200 });
    const [first, second] = await Promise.all([
      slow.createRefund(REFUND),
      slow.createRefund({ ...REFUND, orderId: half }),
    ]);
    expect(first).toEqual({ kind: 'UNKNOWN', reason: 'timeout' });
    expect(second).toEqual({ kind: 'UNAVAILABLE', reason: 'not_sent' });
  });
});
