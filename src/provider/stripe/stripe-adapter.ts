import Stripe from 'stripe';
import { defined } from '../../ledger/kernel/defined.ts';
import { call, list } from './calls.ts';
import { EVENT_TYPES, eventReader, fetchedObjectReader } from './event-mapping.ts';
import {
  readProviderDispute,
  readProviderPayment,
  readProviderRefund,
  readProviderSession,
  readRefundedAmount,
} from './mapping.ts';
import type {
  EventObjectName,
  PaymentProvider,
  ProviderEvent,
  RefundRequest,
  SessionRequest,
  WebhookReading,
} from '../port.ts';
import type { Reader } from './shapes.ts';
import { singleSendClient } from './single-send-client.ts';
import { createSignatureCheck } from './webhook-signature.ts';

/** Shapes differ between versions. What we send and read is written for this one. */
const API_VERSION = '2026-10-28.endive';

const DEFAULT_WEBHOOK_TOLERANCE_S = 300;

export interface StripeProviderOptions {
  readonly secretKey: string;
  /** Every signing secret that is active: more than one while they are rotated. */
  readonly webhookSecrets: readonly string[];
  /** Where the API is if not at Stripe: the simulator. Its path is ignored. */
  readonly apiBase?: URL;
  /** Our account's id, if events that name it are ours. */
  readonly account?: string | undefined;
  /** How far a webhook's timestamp may be off, to either side. */
  readonly webhookToleranceS?: number;
  /** After this long without an answer a call is UNKNOWN. */
  readonly timeoutMs: number;
}

/**
 * The payment provider port on Stripe's API (docs/DESIGN.md §8). No method throws for anything Stripe or the network
 * does; see `ProviderResult` for what each outcome promises. One call is one request: only the caller has the key, so only the
 * caller repeats it. Throws RangeError at start-up for options that could never work.
 */
export function createStripeProvider(options: StripeProviderOptions): PaymentProvider {
  const { secretKey, webhookSecrets, webhookToleranceS = DEFAULT_WEBHOOK_TOLERANCE_S } = options;
  if (!/^\S+$/.test(secretKey)) throw new RangeError('the Stripe secret key is empty or holds blanks');
  const client = createClient(options);
  const { checkout, paymentIntents, refunds, disputes, events } = client;
  const readEvent = eventReader({ apiVersion: API_VERSION, account: options.account });
  const checkSignature = createSignatureCheck(webhookSecrets, webhookToleranceS);
  // `rk_` is a restricted key: the same account, fewer permissions.
  const livemode = /^(sk|rk)_live_/.test(secretKey);
  return {
    livemode,
    ...sessionMethods(checkout.sessions, livemode),
    retrievePayment: (paymentId) => call(() => paymentIntents.retrieve(paymentId), readProviderPayment),
    listPayments: (page) => list(page, (parameters) => paymentIntents.list(parameters), readProviderPayment),
    createRefund: (request) => {
      const { idempotencyKey } = request;
      return call(() => refunds.create(refundParameters(request), { idempotencyKey }), readProviderRefund);
    },
    retrieveRefundedAmount: (paymentId) =>
      call(() => paymentIntents.retrieve(paymentId, { expand: ['latest_charge'] }), readRefundedAmount),
    retrieveRefund: (refundId) => call(() => refunds.retrieve(refundId), readProviderRefund),
    listRefunds: ({ paymentId: payment_intent, ...page }) =>
      list(
        page,
        (parameters) => refunds.list({ ...parameters, ...defined({ payment_intent }) }),
        readProviderRefund,
      ),
    retrieveDispute: (disputeId) => call(() => disputes.retrieve(disputeId), readProviderDispute),
    listDisputes: ({ paymentId: payment_intent, ...page }) =>
      list(
        page,
        (parameters) => disputes.list({ ...parameters, ...defined({ payment_intent }) }),
        readProviderDispute,
      ),
    retrieveEvent: (eventId) => call(() => events.retrieve(eventId), readEvent),
    listEvents: (page) =>
      list(page, (parameters) => events.list({ ...parameters, types: [...EVENT_TYPES] }), listed(readEvent)),
    retrieveEventObject: eventObjectMethod(client),
    readWebhook: (body, signature, nowS) => {
      const reason = checkSignature(body, signature, nowS);
      return reason === undefined ? readWebhook(readEvent, body) : { kind: 'INAUTHENTIC', reason };
    },
  };
}

function createClient({ secretKey, apiBase, timeoutMs }: StripeProviderOptions): Stripe {
  const protocol = apiBase?.protocol === 'http:' ? 'http' : 'https';
  if (apiBase !== undefined && apiBase.protocol !== `${protocol}:`)
    throw new RangeError("Stripe's API base is no http or https URL");
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    httpClient: singleSendClient(protocol, timeoutMs),
    ...(apiBase !== undefined && {
      protocol,
      host: apiBase.hostname,
      port: apiBase.port === '' ? (protocol === 'http' ? '80' : '443') : apiBase.port,
    }),
  });
}

function sessionMethods(
  sessions: Stripe['checkout']['sessions'],
  livemode: boolean,
): Pick<PaymentProvider, 'createSession' | 'retrieveSession' | 'listSessions' | 'expireSession'> {
  const retrieveSession: PaymentProvider['retrieveSession'] = async (sessionId) => {
    const found = await call(() => sessions.retrieve(sessionId), readProviderSession);
    const isForeign = found.kind === 'REFUSED' && !sessionId.startsWith(livemode ? 'cs_live_' : 'cs_test_');
    // A key of the other mode knows none of our sessions: that says nothing of this one.
    return isForeign ? { kind: 'UNAVAILABLE', reason: 'another_mode' } : found;
  };
  return {
    createSession: (request) => {
      const { idempotencyKey } = request;
      return call(() => sessions.create(sessionParameters(request), { idempotencyKey }), readProviderSession);
    },
    retrieveSession,
    listSessions: (page) => list(page, (parameters) => sessions.list(parameters), readProviderSession),
    expireSession: async (sessionId, idempotencyKey) => {
      const expired = await call(
        () => sessions.expire(sessionId, {}, { idempotencyKey }),
        readProviderSession,
      );
      if (expired.kind !== 'REFUSED') return expired;
      // Stripe refuses "already expired" and "already complete" alike; only the session itself tells which it is.
      const current = await retrieveSession(sessionId);
      if (current.kind !== 'DONE' || current.value.status === 'expired') return current;
      return current.value.status === 'complete' ? { kind: 'REFUSED', code: 'session_not_open' } : expired;
    },
  };
}

/** Without an id there is nothing to note or to fetch, and it must not end the listing before all later ones. */
function listed(read: Reader<ProviderEvent>): Reader<ProviderEvent> {
  return (raw) => {
    const reading = read(raw);
    return reading.kind === 'UNREADABLE' ? { kind: 'FOREIGN' } : reading;
  };
}

function eventObjectMethod({
  checkout,
  paymentIntents,
  refunds,
  disputes,
}: Stripe): PaymentProvider['retrieveEventObject'] {
  const retrieve: Readonly<Record<EventObjectName['kind'], (id: string) => Promise<unknown>>> = {
    session: (id) => checkout.sessions.retrieve(id),
    payment: (id) => paymentIntents.retrieve(id),
    refund: (id) => refunds.retrieve(id),
    dispute: (id) => disputes.retrieve(id),
  };
  return ({ kind, id }) => call(() => retrieve[kind](id), fetchedObjectReader(kind));
}

/** The names are Stripe's. A session doesn't pass its metadata on to its payment intent, so both get it. */
function sessionParameters(request: SessionRequest): Stripe.Checkout.SessionCreateParams {
  const metadata = { ...request.merchantMetadata, ...request.metadata };
  const currency = request.currency.toLowerCase();
  return {
    mode: 'payment',
    line_items: request.lines.map(({ name, quantity, unitAmountMinor: unit_amount }) => ({
      quantity,
      price_data: { currency, unit_amount, product_data: { name } },
    })),
    // This API version refuses `payment_method_types`; the allow-list took its place.
    allowed_payment_method_types: [...request.paymentMethodTypes],
    client_reference_id: request.orderId,
    expires_at: request.expiresAtS,
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
    metadata,
    payment_intent_data: { metadata },
  };
}

function refundParameters(request: RefundRequest): Stripe.RefundCreateParams {
  return {
    payment_intent: request.paymentId,
    amount: request.amountMinor,
    metadata: { tenant: request.tenant, order_id: request.orderId, refund_id: request.refundId },
  };
}

function readWebhook(readEvent: Reader<ProviderEvent>, body: Uint8Array): WebhookReading {
  let parsed: unknown;
  try {
    // Nothing is guessed: a byte order mark stays, so that JSON refuses it, and bytes that aren't UTF-8 are an error.
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return { kind: 'MALFORMED', reason: 'not JSON' };
  }
  const reading = readEvent(parsed);
  if (reading.kind === 'READ') return { kind: 'EVENT', event: reading.value };
  const field = reading.kind === 'UNREADABLE' ? reading.field : undefined;
  return { kind: 'MALFORMED', reason: 'not an event of the expected shape', ...defined({ field }) };
}
