import Stripe from 'stripe';
import { call, list } from './calls.ts';
import { EVENT_TYPES, eventName, readEvent } from './event-mapping.ts';
import { readDispute, readPayment, readRefund, readSession } from './mapping.ts';
import type {
  PaymentProvider,
  ProviderEvent,
  ProviderResult,
  ProviderSession,
  RefundRequest,
  SessionRequest,
  WebhookReading,
} from '../port.ts';
import type { Reader } from './shapes.ts';
import { singleSendClient } from './single-send-client.ts';
import { createSignatureCheck, type SignatureCheck } from './webhook-signature.ts';

/** Shapes differ between versions: what we send and read is written for this one. */
const API_VERSION = '2026-10-28.endive';

const DEFAULT_WEBHOOK_TOLERANCE_S = 300;

export interface StripeProviderOptions {
  readonly secretKey: string;
  /** Every signing secret that is active: more than one while they are rotated. */
  readonly webhookSecrets: readonly string[];
  /** Where the API is, if not at Stripe: the simulator. Its path is ignored. */
  readonly apiBase?: URL;
  /** How far a webhook's timestamp may be off, to either side. */
  readonly webhookToleranceS?: number;
  /** How long Stripe may stay silent before a call counts as unknown. */
  readonly timeoutMs: number;
}

/**
 * The payment provider port on Stripe's API (docs/DESIGN.md §8). No method throws for anything Stripe or the network
 * does; see `ProviderResult` for what each outcome promises. One call is one request: retries belong to the caller,
 * who has the key. Throws RangeError at start-up for options that could never work.
 */
export function createStripeProvider(options: StripeProviderOptions): PaymentProvider {
  const { secretKey, webhookSecrets, webhookToleranceS = DEFAULT_WEBHOOK_TOLERANCE_S } = options;
  if (!/^\S+$/.test(secretKey)) throw new RangeError('the Stripe secret key is empty or holds blanks');
  const stripe = createClient(options);
  const checkSignature = createSignatureCheck({ secrets: webhookSecrets, toleranceS: webhookToleranceS });
  return {
    // `rk_` is a restricted key: the same account, fewer permissions.
    livemode: /^(sk|rk)_live_/.test(secretKey),
    ...sessionMethods(stripe),
    ...paymentMethods(stripe),
    ...refundMethods(stripe),
    ...disputeMethods(stripe),
    ...eventMethods(stripe),
    readWebhook: (body, signature, nowS) => readWebhook(checkSignature, body, signature, nowS),
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
    httpClient: singleSendClient({ protocol, timeoutMs }),
    ...(apiBase !== undefined && {
      protocol,
      host: apiBase.hostname,
      port: apiBase.port === '' ? (protocol === 'http' ? '80' : '443') : apiBase.port,
    }),
  });
}

function sessionMethods(
  stripe: Stripe,
): Pick<PaymentProvider, 'createSession' | 'retrieveSession' | 'expireSession'> {
  const { sessions } = stripe.checkout;
  const retrieveSession = (sessionId: string): Promise<ProviderResult<ProviderSession>> =>
    call(() => sessions.retrieve(sessionId), readSession);
  return {
    createSession: (request) =>
      call(
        () => sessions.create(sessionParameters(request), { idempotencyKey: request.idempotencyKey }),
        readSession,
      ),
    retrieveSession,
    expireSession: async (sessionId, idempotencyKey) => {
      const expired = await call(() => sessions.expire(sessionId, {}, { idempotencyKey }), readSession);
      if (expired.kind !== 'REFUSED') return expired;
      // Stripe has one refusal for "already expired" and "already complete"; only the session itself tells which.
      const current = await retrieveSession(sessionId);
      if (current.kind !== 'DONE' || current.value.status === 'expired') return current;
      return current.value.status === 'complete' ? { kind: 'REFUSED', code: 'session_not_open' } : expired;
    },
  };
}

function paymentMethods(stripe: Stripe): Pick<PaymentProvider, 'retrievePayment' | 'listPayments'> {
  const { paymentIntents } = stripe;
  return {
    retrievePayment: (paymentId) => call(() => paymentIntents.retrieve(paymentId), readPayment),
    listPayments: (page) => list(page, (parameters) => paymentIntents.list(parameters), readPayment),
  };
}

function refundMethods(
  stripe: Stripe,
): Pick<PaymentProvider, 'createRefund' | 'retrieveRefund' | 'listRefunds'> {
  const { refunds } = stripe;
  return {
    createRefund: (request) =>
      call(
        () => refunds.create(refundParameters(request), { idempotencyKey: request.idempotencyKey }),
        readRefund,
      ),
    retrieveRefund: (refundId) => call(() => refunds.retrieve(refundId), readRefund),
    listRefunds: (page) =>
      list(page, (parameters) => refunds.list({ ...parameters, ...ofPayment(page) }), readRefund),
  };
}

function disputeMethods(stripe: Stripe): Pick<PaymentProvider, 'retrieveDispute' | 'listDisputes'> {
  const { disputes } = stripe;
  return {
    retrieveDispute: (disputeId) => call(() => disputes.retrieve(disputeId), readDispute),
    listDisputes: (page) =>
      list(page, (parameters) => disputes.list({ ...parameters, ...ofPayment(page) }), readDispute),
  };
}

function eventMethods(stripe: Stripe): Pick<PaymentProvider, 'retrieveEvent' | 'listEvents'> {
  const { events } = stripe;
  return {
    retrieveEvent: (eventId) => call(() => events.retrieve(eventId), readEvent),
    listEvents: (page) =>
      list(page, (parameters) => events.list({ ...parameters, types: [...EVENT_TYPES] }), readListedEvent),
  };
}

/**
 * One event that can't be read must not end the listing for all that come after it. Its webhook is answered as
 * MALFORMED, and `retrieveEvent` still tells.
 */
const readListedEvent: Reader<ProviderEvent> = (raw) => {
  const reading = readEvent(raw);
  return reading.kind === 'UNREADABLE' ? { kind: 'FOREIGN' } : reading;
};

function ofPayment({ paymentId }: { readonly paymentId?: string }): { readonly payment_intent?: string } {
  return paymentId === undefined ? {} : { payment_intent: paymentId };
}

/** The names are Stripe's. A session hands its own metadata to no payment intent, so both carry it. */
function sessionParameters(request: SessionRequest): Stripe.Checkout.SessionCreateParams {
  const metadata = {
    tenant: request.tenant,
    order_id: request.orderId,
    attempt: String(request.attempt),
  };
  return {
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: request.currency.toLowerCase(),
          unit_amount: request.amountMinor,
          product_data: { name: request.description },
        },
      },
    ],
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

function readWebhook(
  checkSignature: SignatureCheck,
  body: Uint8Array,
  signature: string | undefined,
  nowS: number,
): WebhookReading {
  const verdict = checkSignature(body, signature, nowS);
  if (verdict.kind === 'INAUTHENTIC') return verdict;
  let parsed: unknown;
  try {
    // A byte order mark is kept, so that JSON refuses it, and bytes that are no UTF-8 are an error: nothing is guessed.
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return { kind: 'MALFORMED', reason: 'not JSON' };
  }
  const reading = readEvent(parsed);
  if (reading.kind === 'READ') return { kind: 'EVENT', event: reading.value };
  return {
    kind: 'MALFORMED',
    reason: 'not an event of the expected shape',
    ...(reading.kind === 'UNREADABLE' && { field: reading.field }),
    ...eventName(parsed),
  };
}
