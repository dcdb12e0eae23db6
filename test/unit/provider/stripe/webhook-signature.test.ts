import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import type { WebhookReading } from '../../../../src/provider/port.ts';
import { createStripeProvider } from '../../../../src/provider/stripe/stripe-adapter.ts';
import { stripeEvent, stripeRefund, stripeSession } from './stripe-objects.ts';

const NOW_S = 1_800_000_000;

/** Bytes that a re-serialisation would change: an accent, an emoji, an escape, odd spacing, 1.0 for 1. */
const BODY = `{ "id":"evt_1", "object" : "event","type":"customer.created","created":1.0,"livemode":false,
  "data":{"object":{"name":"é 🍙 \\u00e9","balance":1.0}} }`;

function signed(
  body: string,
  { secret = 'whsec_new', atS = NOW_S }: { readonly secret?: string; readonly atS?: number } = {},
): string {
  return Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: atS });
}

function readWith(
  secrets: readonly string[],
  body: string | Uint8Array,
  signature: string | undefined,
): WebhookReading {
  const provider = createStripeProvider({
    secretKey: 'sk_test_1',
    webhookSecrets: secrets,
    timeoutMs: 1_000,
  });
  return provider.readWebhook(typeof body === 'string' ? Buffer.from(body) : body, signature, NOW_S);
}

const EVENT = {
  kind: 'EVENT',
  event: {
    eventId: 'evt_1',
    type: 'customer.created',
    createdS: 1,
    livemode: false,
    object: { kind: 'other' },
  },
};

const NO_MATCH = { kind: 'INAUTHENTIC', reason: 'no signature matches' };

describe('a webhook is read from its raw bytes', () => {
  test('as they were signed', () => {
    expect(readWith(['whsec_new'], BODY, signed(BODY))).toEqual(EVENT);
  });

  test('also where blanks stand in the list, as HTTP stacks rejoin it', () => {
    expect(readWith(['whsec_new'], BODY, signed(BODY).replaceAll(',', ' ,\t'))).toEqual(EVENT);
    expect(readWith(['whsec_new'], BODY, ` ${signed(BODY).replaceAll(',', ', ')} `)).toEqual(EVENT);
  });

  test('and not once a parser has re-serialised them', () => {
    const reserialised = JSON.stringify(JSON.parse(BODY));
    expect(readWith(['whsec_new'], reserialised, signed(BODY))).toEqual(NO_MATCH);
  });

  test('nor as base64, as serverless gateways deliver them', () => {
    const encoded = Buffer.from(BODY).toString('base64');
    expect(readWith(['whsec_new'], encoded, signed(BODY))).toEqual(NO_MATCH);
  });

  test('nor with a byte order mark put before them', () => {
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(BODY)]);
    expect(readWith(['whsec_new'], marked, signed(BODY))).toEqual(NO_MATCH);
  });

  test('nor with bytes that decode to the same replacement character', () => {
    const body = Buffer.from(BODY.replace('é', '\ufffd'));
    const start = body.indexOf(Buffer.from('\ufffd'));
    const altered = Buffer.concat([body.subarray(0, start), Buffer.from([0xff]), body.subarray(start + 3)]);
    expect(new TextDecoder().decode(altered)).toBe(body.toString());
    expect(readWith(['whsec_new'], altered, signed(body.toString()))).toEqual(NO_MATCH);
  });
});

describe('a webhook without a good signature is inauthentic', () => {
  test.each([
    ['no header', undefined, 'no signature'],
    ['an empty header', '', 'no signature'],
    ['another scheme alone', signed(BODY).replace('v1=', 'v0='), 'unreadable signature'],
    ['no timestamp', signed(BODY).replace(/^t=\d+,/, ''), 'unreadable signature'],
    ['a timestamp that is no number', signed(BODY).replace(/^t=\d+/, 't=soon'), 'unreadable signature'],
    ['two timestamps', `t=${NOW_S},${signed(BODY)}`, 'unreadable signature'],
    ['a signature of the wrong length', `t=${NOW_S},v1=abcd`, 'unreadable signature'],
    ['a wrong secret', signed(BODY, { secret: 'whsec_wrong' }), 'no signature matches'],
    [
      'a timestamp that was not signed',
      signed(BODY).replace(/^t=\d+/, `t=${NOW_S - 1}`),
      'no signature matches',
    ],
  ])('%s', (_, header, reason) => {
    expect(readWith(['whsec_new'], BODY, header)).toEqual({ kind: 'INAUTHENTIC', reason });
  });
});

describe('while secrets are rotated', () => {
  const secrets = ['whsec_new', 'whsec_old'];

  test('either active secret is taken', () => {
    expect(readWith(secrets, BODY, signed(BODY, { secret: 'whsec_old' }))).toEqual(EVENT);
    expect(readWith(secrets, BODY, signed(BODY, { secret: 'whsec_new' }))).toEqual(EVENT);
  });

  test('a header with a signature per secret is taken with either', () => {
    const old = signed(BODY, { secret: 'whsec_old' });
    const both = `${signed(BODY, { secret: 'whsec_new' })},${old.slice(old.indexOf('v1='))}`;
    expect(readWith(['whsec_new'], BODY, both)).toEqual(EVENT);
    expect(readWith(['whsec_old'], BODY, both)).toEqual(EVENT);
  });

  test('a retired secret is refused', () => {
    expect(readWith(['whsec_new'], BODY, signed(BODY, { secret: 'whsec_old' }))).toEqual(NO_MATCH);
  });

  test('a stale timestamp is named even where the first secret does not match', () => {
    const stale = signed(BODY, { secret: 'whsec_old', atS: NOW_S - 301 });
    expect(readWith(secrets, BODY, stale)).toEqual({ kind: 'INAUTHENTIC', reason: 'timestamp too old' });
  });
});

describe('the age of a signature is bounded on both sides', () => {
  test.each([
    [-300, EVENT],
    [-301, { kind: 'INAUTHENTIC', reason: 'timestamp too old' }],
    [300, EVENT],
    [301, { kind: 'INAUTHENTIC', reason: 'timestamp in the future' }],
    [86_400, { kind: 'INAUTHENTIC', reason: 'timestamp in the future' }],
  ])('%i seconds from now', (offsetS, expected) => {
    expect(readWith(['whsec_new'], BODY, signed(BODY, { atS: NOW_S + offsetS }))).toEqual(expected);
  });
});

describe('a setting that would weaken or break verification stops start-up', () => {
  const options = { secretKey: 'sk_test_1', webhookSecrets: ['whsec_new'], timeoutMs: 1_000 };

  test.each([
    ['no secrets', { webhookSecrets: [] }, /webhook secret/],
    ['an empty secret among others', { webhookSecrets: ['whsec_new', ''] }, /webhook secret/],
    ['a blank secret', { webhookSecrets: [' '] }, /webhook secret/],
    ['a secret with a line end', { webhookSecrets: ['whsec_new\n'] }, /webhook secret/],
    ['tolerance 0', { webhookToleranceS: 0 }, /tolerance/],
    ['a negative tolerance', { webhookToleranceS: -300 }, /tolerance/],
    ['a tolerance that is no number', { webhookToleranceS: Number.NaN }, /tolerance/],
    ['an infinite tolerance', { webhookToleranceS: Number.POSITIVE_INFINITY }, /tolerance/],
    ['no secret key', { secretKey: '' }, /secret key/],
    ['a secret key with a line end', { secretKey: 'sk_test_1\n' }, /secret key/],
  ])('%s', (_, changed, message) => {
    expect(() => createStripeProvider({ ...options, ...changed })).toThrow(message);
  });

  test('and its message holds no secret', () => {
    expect(() => createStripeProvider({ ...options, webhookSecrets: ['whsec_private '] })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('whsec_private') as string }) as Error,
    );
  });
});

describe('signed bytes that are no event are malformed, and the reason holds none of them', () => {
  const notJson = { kind: 'MALFORMED', reason: 'not JSON' };
  const noEvent = (about: Readonly<Record<string, string>>): object => ({
    kind: 'MALFORMED',
    reason: 'not an event of the expected shape',
    ...about,
  });

  test.each([
    ['text', 'alice@example.com', notJson],
    ['nothing', '', notJson],
    ['a byte order mark that was signed', `\ufeff${BODY}`, notJson],
    ['a list', '[]', noEvent({ field: '' })],
    ['null', 'null', noEvent({ field: '' })],
    ['an object', '{}', noEvent({ field: 'id' })],
    ['an id that could leave its key', BODY.replace('evt_1', 'evt_1#EVENT'), noEvent({ field: 'id' })],
  ])('%s', (_, body, expected) => {
    expect(readWith(['whsec_new'], body, signed(body))).toEqual(expected);
  });

  const unread = (object: object): object => ({ kind: 'EVENT', event: { eventId: 'evt_1', object } });

  test.each([
    [
      'a thin event',
      '{"id":"evt_1","object":"v2.core.event","type":"v1.charge.failed","livemode":false}',
      unread({ kind: 'unread', metadata: {} }),
    ],
    [
      'a handled type whose object lacks what we need',
      JSON.stringify(stripeEvent('payment_intent.succeeded', { id: 'pi_1', object: 'payment_intent' })),
      unread({ kind: 'unread', name: { kind: 'payment', id: 'pi_1' }, metadata: {} }),
    ],
    [
      'a handled type of another version',
      JSON.stringify(stripeEvent('refund.created', stripeRefund(), { api_version: '2024-06-20' })),
      unread({ kind: 'unread', name: { kind: 'refund', id: 're_1' } }),
    ],
    [
      'a refund without a payment',
      JSON.stringify(stripeEvent('refund.created', stripeRefund({ payment_intent: null }))),
      unread({ kind: 'unread', name: { kind: 'refund', id: 're_1' } }),
    ],
    [
      'a session without an amount',
      JSON.stringify(stripeEvent('checkout.session.completed', stripeSession({ amount_total: null }))),
      unread({ kind: 'unread', name: { kind: 'session', id: 'cs_test_1' } }),
    ],
    [
      'an event of a connected account',
      JSON.stringify(stripeEvent('refund.created', stripeRefund(), { account: 'acct_2' })),
      { kind: 'EVENT', event: { leftAlone: 'account', object: { kind: 'other' } } },
    ],
    [
      'an event without a mode',
      JSON.stringify(stripeEvent('refund.created', stripeRefund(), { livemode: undefined })),
      { kind: 'EVENT', event: { leftAlone: 'livemode', object: { kind: 'other' } } },
    ],
  ])('%s is an event that is not judged as it is', (_, body, expected) => {
    expect(readWith(['whsec_new'], body, signed(body))).toMatchObject(expected);
  });

  test('invalid UTF-8', () => {
    const check = Buffer.from([0x7b, 0xff, 0x7d]);
    const header = Stripe.webhooks.generateTestHeaderString({
      payload: '',
      secret: 'whsec_new',
      timestamp: NOW_S,
      signature: hmacHex('whsec_new', Buffer.concat([Buffer.from(`${NOW_S}.`), check])),
    });
    expect(readWith(['whsec_new'], check, header)).toEqual(notJson);
  });
});

function hmacHex(secret: string, bytes: Uint8Array): string {
  return createHmac('sha256', secret).update(bytes).digest('hex');
}
