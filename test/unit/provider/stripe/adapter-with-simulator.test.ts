import { afterEach, beforeEach, expect, test } from 'vitest';
import { startStripeSimulator, type StripeSimulator } from '../../../../dev/stripe-simulator/server.ts';
import { epochS, systemClock } from '../../../../src/ledger/kernel/clock.ts';
import type {
  PaymentProvider,
  ProviderEvent,
  ProviderResult,
  RefundRequest,
  SessionRequest,
} from '../../../../src/provider/port.ts';
import { METADATA, ORDER_PATH } from './stripe-objects.ts';
import {
  json,
  providerAt,
  startStripeShapedServer,
  type StripeShapedServer,
  WEBHOOK_SECRET,
} from './stripe-shaped-server.ts';

/** Every method of the port against Stripe's own rules, as the simulator keeps them. */

let receiver: StripeShapedServer;
let simulator: StripeSimulator;
let provider: PaymentProvider;

beforeEach(async () => {
  receiver = await startStripeShapedServer();
  receiver.replyWith(json(200, {}));
  simulator = await startStripeSimulator({
    secretKey: 'sk_test_1',
    webhookSecret: WEBHOOK_SECRET,
    webhookUrl: receiver.origin.href,
    seed: 'adapter',
  });
  provider = providerAt(new URL(simulator.url));
});
afterEach(async () => {
  await simulator.close();
  await receiver.close();
});

function sessionRequest(fields: Partial<SessionRequest> = {}): SessionRequest {
  return {
    idempotencyKey: 'session-1',
    orderId: ORDER_PATH,
    metadata: METADATA,
    currency: 'JPY',
    lines: [{ name: 'Coffee', quantity: 1, unitAmountMinor: 500 }],
    merchantMetadata: {},
    successUrl: 'https://shop.example/paid',
    cancelUrl: 'https://shop.example/back',
    paymentMethodTypes: ['card', 'konbini'],
    expiresAtS: epochS(systemClock.nowMs()) + 3_600,
    ...fields,
  };
}

function refundRequest(paymentId: string, fields: Partial<RefundRequest> = {}): RefundRequest {
  return {
    idempotencyKey: 'refund-key-1',
    paymentId,
    amountMinor: 200,
    tenant: 'demo',
    orderId: ORDER_PATH,
    refundId: 'refund-1',
    ...fields,
  };
}

function done<Value>(result: ProviderResult<Value>): Value {
  if (result.kind !== 'DONE') throw new Error(`not done: ${JSON.stringify(result)}`);
  return result.value;
}

async function paidSession(): Promise<{ readonly sessionId: string; readonly paymentId: string }> {
  const { sessionId } = done(await provider.createSession(sessionRequest()));
  await simulator.payByCard({ session: sessionId });
  const { paymentId } = done(await provider.retrieveSession(sessionId));
  if (paymentId === undefined) throw new Error('a paid session without a payment');
  return { sessionId, paymentId };
}

const OUR_METADATA = { tenant: 'demo', orderId: ORDER_PATH, attempt: 1 };

test('a session is made once per key, paid, and found again', async () => {
  const request = sessionRequest();
  const created = done(await provider.createSession(request));
  expect(created).toMatchObject({
    status: 'open',
    paymentStatus: 'unpaid',
    expiresAtS: request.expiresAtS,
    amountMinor: 500,
    currency: 'JPY',
    livemode: false,
    metadata: OUR_METADATA,
  });
  expect(created.url).toMatch(/^http/);
  expect(done(await provider.createSession(request)).sessionId).toBe(created.sessionId);

  await simulator.payByCard({ session: created.sessionId });
  const paid = done(await provider.retrieveSession(created.sessionId));
  expect(paid).toMatchObject({ status: 'complete', paymentStatus: 'paid' });
  expect(paid.url).toBeUndefined();
  expect(done(await provider.retrievePayment(paid.paymentId ?? ''))).toMatchObject({
    status: 'succeeded',
    amountMinor: 500,
    amountReceivedMinor: 500,
    currency: 'JPY',
    metadata: OUR_METADATA,
  });
});

test('the same key with other parameters is unknown, since something was made with it', async () => {
  const request = sessionRequest();
  done(await provider.createSession(request));
  expect(
    await provider.createSession({
      ...request,
      lines: [{ name: 'Coffee', quantity: 1, unitAmountMinor: 501 }],
    }),
  ).toEqual({
    kind: 'UNKNOWN',
    reason: 'idempotency_mismatch',
  });
});

test('a session that Stripe does not make is refused', async () => {
  const expiresAtS = epochS(systemClock.nowMs()) + 60;
  expect(await provider.createSession(sessionRequest({ expiresAtS }))).toMatchObject({ kind: 'REFUSED' });
});

test('what is not there is refused as missing', async () => {
  const missing = { kind: 'REFUSED', code: 'resource_missing' };
  expect(await provider.retrieveSession('cs_test_none')).toEqual(missing);
  expect(await provider.expireSession('cs_test_none', 'expire-1')).toEqual(missing);
  expect(await provider.retrievePayment('pi_none')).toEqual(missing);
  expect(await provider.createRefund(refundRequest('pi_none'))).toEqual(missing);
  expect(await provider.retrieveRefund('re_none')).toEqual(missing);
  expect(await provider.retrieveDispute('du_none')).toEqual(missing);
  expect(await provider.retrieveEvent('evt_none')).toEqual(missing);
});

test('rejected credentials are unavailable', async () => {
  const other = providerAt(new URL(simulator.url), { secretKey: 'sk_test_2' });
  expect(await other.createSession(sessionRequest())).toEqual({
    kind: 'UNAVAILABLE',
    reason: 'credentials_rejected',
  });
});

test('an open session expires, an expired one is done, a complete one is refused', async () => {
  const { sessionId } = done(await provider.createSession(sessionRequest()));
  expect(await provider.expireSession(sessionId, 'expire-1')).toMatchObject({
    kind: 'DONE',
    value: { status: 'expired' },
  });
  expect(await provider.expireSession(sessionId, 'expire-2')).toMatchObject({
    kind: 'DONE',
    value: { status: 'expired' },
  });
  const second = done(
    await provider.createSession(
      sessionRequest({ idempotencyKey: 'session-2', metadata: { ...METADATA, attempt: '2' } }),
    ),
  );
  await simulator.payByCard({ session: second.sessionId });
  expect(await provider.expireSession(second.sessionId, 'expire-3')).toEqual({
    kind: 'REFUSED',
    code: 'session_not_open',
  });
});

test('a payment at a convenience store has a slip; a declined card has its decline code; 3-D Secure neither', async () => {
  const konbini = done(await provider.createSession(sessionRequest()));
  await simulator.startKonbini({ session: konbini.sessionId });
  const waiting = done(await provider.retrieveSession(konbini.sessionId));
  expect(waiting).toMatchObject({ status: 'complete', paymentStatus: 'unpaid' });
  const payment = done(await provider.retrievePayment(waiting.paymentId ?? ''));
  expect(payment.status).toBe('requires_action');
  expect(payment.voucher?.url).toMatch(/^http/);
  expect(payment.voucher?.expiresAtS).toBeGreaterThan(payment.createdS);

  const card = done(await provider.createSession(sessionRequest({ idempotencyKey: 'session-2' })));
  await simulator.declineCard({ session: card.sessionId, declineCode: 'insufficient_funds' });
  await simulator.requireAuthentication({ session: card.sessionId });
  const events = done(await provider.listEvents({ limit: 100 })).items;
  expect(paymentsOf(events, 'payment_intent.payment_failed')).toMatchObject([
    { declineCode: 'insufficient_funds', status: 'requires_payment_method' },
  ]);
  const [authenticating] = paymentsOf(events, 'payment_intent.requires_action');
  expect(authenticating).toMatchObject({ status: 'requires_action' });
  expect(authenticating?.voucher).toBeUndefined();
});

function paymentsOf(
  events: readonly ProviderEvent[],
  type: string,
): readonly Extract<ProviderEvent['object'], { kind: 'payment' }>['payment'][] {
  return events.flatMap(({ type: found, object }) =>
    found === type && object.kind === 'payment' ? [object.payment] : [],
  );
}

test('a refund is made once per key, found by its payment, and bounded by what was paid', async () => {
  const { paymentId } = await paidSession();
  const refund = done(await provider.createRefund(refundRequest(paymentId)));
  expect(refund).toMatchObject({
    paymentId,
    status: 'succeeded',
    amountMinor: 200,
    currency: 'JPY',
    metadata: { tenant: 'demo', orderId: ORDER_PATH, refundId: 'refund-1' },
  });
  expect(done(await provider.createRefund(refundRequest(paymentId))).providerRefundId).toBe(
    refund.providerRefundId,
  );
  expect(
    await provider.createRefund(
      refundRequest(paymentId, { idempotencyKey: 'refund-key-2', amountMinor: 400, refundId: 'refund-2' }),
    ),
  ).toMatchObject({ kind: 'REFUSED' });
  expect(done(await provider.retrieveRefundedAmount(paymentId))).toEqual({
    amountMinor: 200,
    currency: 'JPY',
  });
  await simulator.dashboardRefund({ paymentIntent: paymentId, amount: 50, status: 'pending' });
  expect(done(await provider.retrieveRefundedAmount(paymentId)).amountMinor).toBe(250);

  const refunds = done(await provider.listRefunds({ limit: 10, paymentId }));
  expect(refunds).toMatchObject({
    items: [
      { amountMinor: 50, status: 'pending', metadata: {} },
      { amountMinor: 200, metadata: { refundId: 'refund-1' } },
    ],
    hasMore: false,
  });
  await simulator.settleRefund({
    refund: refunds.items[0]?.providerRefundId ?? '',
    status: 'failed',
    failureReason: 'expired_or_canceled_card',
  });
  expect(done(await provider.retrieveRefund(refunds.items[0]?.providerRefundId ?? ''))).toMatchObject({
    status: 'failed',
    failureReason: 'expired_or_canceled_card',
  });
  expect(done(await provider.retrieveRefundedAmount(paymentId)).amountMinor).toBe(200);
});

test('a dispute is followed from inquiry to its end', async () => {
  const { paymentId } = await paidSession();
  const { id } = await simulator.openDispute({ paymentIntent: paymentId, inquiry: true });
  expect(done(await provider.retrieveDispute(id))).toMatchObject({
    disputeId: id,
    paymentId,
    status: 'inquiry',
    amountMinor: 500,
    currency: 'JPY',
    livemode: false,
  });
  await simulator.updateDispute({ dispute: id, status: 'needs_response' });
  expect(done(await provider.retrieveDispute(id)).status).toBe('open');
  await simulator.closeDispute({ dispute: id, status: 'lost' });
  expect(done(await provider.listDisputes({ limit: 10, paymentId })).items).toMatchObject([
    { disputeId: id, status: 'lost' },
  ]);
});

test('lists are read page by page, newest first, from an instant on', async () => {
  for (const idempotencyKey of ['session-1', 'session-2', 'session-3']) {
    const { sessionId } = done(await provider.createSession(sessionRequest({ idempotencyKey })));
    await simulator.payByCard({ session: sessionId });
  }
  const all = done(await provider.listPayments({ limit: 10 })).items.map(({ paymentId }) => paymentId);
  expect(new Set(all).size).toBe(3);
  const first = done(await provider.listPayments({ limit: 2 }));
  expect(first.items.map(({ paymentId }) => paymentId)).toEqual(all.slice(0, 2));
  expect(first.hasMore).toBe(true);
  const second = done(await provider.listPayments({ limit: 2, after: all[1] ?? '' }));
  expect(second.items.map(({ paymentId }) => paymentId)).toEqual(all.slice(2));
  expect(second.hasMore).toBe(false);
  const later = epochS(systemClock.nowMs()) + 60;
  expect(done(await provider.listPayments({ limit: 10, createdFromS: later })).items).toEqual([]);
});

test('a webhook reads as the same event that the events API gives', async () => {
  const { paymentId } = await paidSession();
  await provider.createRefund(refundRequest(paymentId));
  const { id } = await simulator.openDispute({ paymentIntent: paymentId });
  await simulator.closeDispute({ dispute: id, status: 'won' });
  await simulator.idle();

  const nowS = epochS(systemClock.nowMs());
  const delivered = receiver.requests.map(({ body, headers }) => {
    const reading = provider.readWebhook(Buffer.from(body), String(headers['stripe-signature']), nowS);
    if (reading.kind !== 'EVENT') throw new Error(`not an event: ${reading.reason}`);
    return reading.event;
  });
  const listed = done(await provider.listEvents({ limit: 100 }));
  const byId = (events: readonly ProviderEvent[]): ReadonlyMap<string, ProviderEvent> =>
    new Map(events.map((event) => [event.eventId, event]));
  // Of all that an account tells only what has an effect is listed.
  const withEffect = delivered.filter(({ object }) => object.kind !== 'other');
  expect(byId(withEffect)).toEqual(byId(listed.items));
  expect(withEffect.length).toBeLessThan(delivered.length);
  const [event] = delivered;
  expect(done(await provider.retrieveEvent(event?.eventId ?? ''))).toEqual(event);

  const kinds = new Map(delivered.map(({ type, object }) => [type, object.kind]));
  expect(kinds).toEqual(
    new Map([
      ...[...kinds].filter(([, kind]) => kind === 'other'),
      ['checkout.session.completed', 'session'],
      ['payment_intent.succeeded', 'payment'],
      ['refund.created', 'refund'],
      ['charge.refunded', 'charge'],
      ['charge.dispute.created', 'dispute'],
      ['charge.dispute.funds_withdrawn', 'dispute'],
      ['charge.dispute.closed', 'dispute'],
      ['charge.dispute.funds_reinstated', 'dispute'],
    ]),
  );
});
