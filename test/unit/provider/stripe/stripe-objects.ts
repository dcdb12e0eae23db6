/** Stripe's objects as it sends them in API version 2026-10-28.endive, cut to what a test may look at. */

export const ORDER_PATH = 'alice/01ARZ3NDEKTSV4RRFFQ69G5FAV';

export const METADATA = { tenant: 'demo', order_id: ORDER_PATH, attempt: '1' };

export function stripeSession(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: 'cs_test_1',
    object: 'checkout.session',
    mode: 'payment',
    status: 'open',
    payment_status: 'unpaid',
    url: 'https://checkout.stripe.com/c/pay/cs_test_1',
    expires_at: 1_800_001_800,
    created: 1_800_000_000,
    payment_intent: null,
    amount_total: 500,
    currency: 'jpy',
    livemode: false,
    metadata: METADATA,
    client_secret: 'cs_secret',
    customer_details: { email: 'alice@example.com', name: 'Alice' },
    ...fields,
  };
}

export function stripePayment(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: 'pi_1',
    object: 'payment_intent',
    status: 'succeeded',
    amount: 500,
    amount_received: 500,
    currency: 'jpy',
    livemode: false,
    created: 1_800_000_000,
    metadata: METADATA,
    last_payment_error: null,
    next_action: null,
    client_secret: 'pi_1_secret',
    receipt_email: 'alice@example.com',
    ...fields,
  };
}

export function stripeRefund(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: 're_1',
    object: 'refund',
    payment_intent: 'pi_1',
    charge: 'ch_1',
    status: 'succeeded',
    amount: 200,
    currency: 'jpy',
    created: 1_800_000_100,
    metadata: { tenant: 'demo', order_id: ORDER_PATH, refund_id: 'refund-1' },
    ...fields,
  };
}

export function stripeDispute(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: 'du_1',
    object: 'dispute',
    payment_intent: 'pi_1',
    charge: 'ch_1',
    status: 'needs_response',
    amount: 500,
    currency: 'jpy',
    livemode: false,
    created: 1_800_000_200,
    evidence: { customer_email_address: 'alice@example.com' },
    ...fields,
  };
}

export function stripeEvent(
  type: string,
  object: unknown,
  fields: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    id: 'evt_1',
    object: 'event',
    api_version: '2026-10-28.endive',
    type,
    created: 1_800_000_300,
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    data: { object },
    ...fields,
  };
}

export function stripeList(data: readonly unknown[], hasMore = false): Record<string, unknown> {
  return { object: 'list', url: '/v1/things', has_more: hasMore, data };
}
