/**
 * The provider port: what the gateway needs of a card provider, in the gateway's words. Types alone.
 * Amounts are integers in the currency's smallest unit, as the provider counts them; currencies are upper-case codes;
 * instants are whole seconds since the epoch.
 */

/** What we write on everything we make at the provider, and read back to know what is ours (docs/DESIGN.md §5.5). */
export interface ProviderMetadata {
  readonly tenant?: string;
  /** The order as `account/ulid`: the account names the partition, so that no lookup index is needed. */
  readonly orderId?: string;
  readonly attempt?: number;
  readonly refundId?: string;
  /** All of it that we wrote, as texts; whether it still is as we wrote it, its seal tells. */
  readonly written?: Readonly<Record<string, string>>;
}

export interface SessionRequest {
  readonly idempotencyKey: string;
  readonly orderId: string;
  /** What the session and its payment intent carry: the caller's alone. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly currency: string;
  /** What the customer reads on the payment page, one at least; it pays their sum. */
  readonly lines: readonly SessionLine[];
  /** Further metadata, under keys that are none of ours. */
  readonly merchantMetadata: Readonly<Record<string, string>>;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly paymentMethodTypes: readonly string[];
  readonly expiresAtS: number;
}

export interface SessionLine {
  readonly name: string;
  readonly quantity: number;
  readonly unitAmountMinor: number;
}

export interface ProviderSession {
  readonly sessionId: string;
  readonly status: 'open' | 'complete' | 'expired' | 'other';
  readonly paymentStatus: 'paid' | 'unpaid' | 'no_payment_required';
  /** The payment page while the session is open. */
  readonly url?: string;
  readonly expiresAtS: number;
  readonly createdS: number;
  /** The payment intent, once there is one. */
  readonly paymentId?: string;
  /** Ours always have an amount and a currency; another integration's may have neither. */
  readonly amountMinor?: number;
  readonly currency?: string;
  readonly livemode: boolean;
  readonly metadata: ProviderMetadata;
}

export interface ProviderPayment {
  readonly paymentId: string;
  readonly status:
    'succeeded' | 'processing' | 'requires_action' | 'requires_payment_method' | 'canceled' | 'other';
  readonly amountMinor: number;
  readonly amountReceivedMinor: number;
  readonly currency: string;
  readonly livemode: boolean;
  readonly createdS: number;
  readonly metadata: ProviderMetadata;
  /** Why the last try was declined: `insufficient_funds`, … */
  readonly declineCode?: string;
  /** A payment voucher or transfer instruction that the customer has to act on; 3-D Secure gives none. */
  readonly voucher?: { readonly url: string; readonly expiresAtS?: number };
}

export interface RefundRequest {
  readonly idempotencyKey: string;
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly tenant: string;
  readonly orderId: string;
  readonly refundId: string;
}

export interface ProviderRefund {
  readonly providerRefundId: string;
  readonly paymentId: string;
  /** `requires_action` counts as pending, `canceled` as failed (docs/DESIGN.md §8). */
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly amountMinor: number;
  readonly currency: string;
  readonly createdS: number;
  readonly failureReason?: string;
  readonly metadata: ProviderMetadata;
}

export interface RefundedAmount {
  readonly amountMinor: number;
  readonly currency: string;
}

export interface ProviderDispute {
  readonly disputeId: string;
  readonly paymentId: string;
  /** `inquiry` is any `warning_*` that is open; `cleared` is warning_closed or prevented. */
  readonly status: 'inquiry' | 'open' | 'lost' | 'won' | 'cleared';
  readonly amountMinor: number;
  readonly currency: string;
  readonly livemode: boolean;
  readonly createdS: number;
  /** A word of the provider's: `fraudulent`, `product_not_received`, … */
  readonly reason?: string;
  /** Until when evidence counts. */
  readonly dueByS?: number;
}

export type ProviderEventObject =
  | { readonly kind: 'session'; readonly session: ProviderSession }
  | { readonly kind: 'payment'; readonly payment: ProviderPayment }
  | { readonly kind: 'refund'; readonly refund: ProviderRefund }
  /** `charge.refunded`: only a reason to list the refunds of its payment. */
  | { readonly kind: 'charge'; readonly paymentId?: string; readonly metadata: ProviderMetadata }
  | { readonly kind: 'dispute'; readonly dispute: ProviderDispute }
  /** Of another API version, or without something that we need: it is fetched. Without a name there is nothing to fetch. */
  | { readonly kind: 'unread'; readonly name?: EventObjectName; readonly metadata: ProviderMetadata }
  | { readonly kind: 'other' };

/** What to fetch in the place of an event's object. */
export interface EventObjectName {
  readonly kind: 'session' | 'payment' | 'refund' | 'dispute';
  readonly id: string;
}

export interface ProviderEvent {
  readonly eventId: string;
  readonly type: string;
  readonly createdS: number;
  readonly livemode: boolean;
  /** Why it is left alone, whatever it tells: it is of a connected account, or doesn't say whether its money is real. */
  readonly leftAlone?: 'account' | 'livemode';
  readonly object: ProviderEventObject;
}

/**
 * How a call ended. Only REFUSED and UNAVAILABLE are definite: nothing happened at the provider by this call.
 * UNKNOWN may have happened: it is resolved by asking again with the same key, never taken for a failure.
 */
export type ProviderResult<Value> =
  | { readonly kind: 'DONE'; readonly value: Value }
  /** The provider said no to this request itself; `code` is its own. */
  | { readonly kind: 'REFUSED'; readonly code: string }
  /** It wasn't tried: rate limit, rejected credentials, no connection could be made. */
  | { readonly kind: 'UNAVAILABLE'; readonly reason: string }
  /** `isStored`: the provider repeats what it has stored for the key, and will never carry the request out under it. */
  | { readonly kind: 'UNKNOWN'; readonly reason: string; readonly isStored?: true };

export interface ProviderPage<Value> {
  readonly items: readonly Value[];
  readonly hasMore: boolean;
}

/** Newest first; `after` is the id of the last item of the page before. */
export interface ProviderPageRequest {
  readonly createdFromS?: number;
  readonly after?: string;
  readonly limit: number;
}

export interface PaymentProvider {
  /** Whether this provider moves real money: an event whose `livemode` differs isn't ours. */
  readonly livemode: boolean;
  readonly createSession: (request: SessionRequest) => Promise<ProviderResult<ProviderSession>>;
  readonly retrieveSession: (sessionId: string) => Promise<ProviderResult<ProviderSession>>;
  readonly listSessions: (
    page: ProviderPageRequest,
  ) => Promise<ProviderResult<ProviderPage<ProviderSession>>>;
  /** A session that is already complete is REFUSED with `session_not_open`; one already expired is DONE. */
  readonly expireSession: (
    sessionId: string,
    idempotencyKey: string,
  ) => Promise<ProviderResult<ProviderSession>>;
  readonly retrievePayment: (paymentId: string) => Promise<ProviderResult<ProviderPayment>>;
  readonly listPayments: (
    page: ProviderPageRequest,
  ) => Promise<ProviderResult<ProviderPage<ProviderPayment>>>;
  readonly createRefund: (request: RefundRequest) => Promise<ProviderResult<ProviderRefund>>;
  /** What the provider itself counts as given back of a payment, pending refunds included. */
  readonly retrieveRefundedAmount: (paymentId: string) => Promise<ProviderResult<RefundedAmount>>;
  readonly retrieveRefund: (providerRefundId: string) => Promise<ProviderResult<ProviderRefund>>;
  /** Of one payment, or of all. */
  readonly listRefunds: (
    page: ProviderPageRequest & { readonly paymentId?: string },
  ) => Promise<ProviderResult<ProviderPage<ProviderRefund>>>;
  readonly retrieveDispute: (disputeId: string) => Promise<ProviderResult<ProviderDispute>>;
  readonly listDisputes: (
    page: ProviderPageRequest & { readonly paymentId?: string },
  ) => Promise<ProviderResult<ProviderPage<ProviderDispute>>>;
  readonly retrieveEvent: (eventId: string) => Promise<ProviderResult<ProviderEvent>>;
  /** The object of an event as it is now, in our version; `other` if it is none that we can have made. */
  readonly retrieveEventObject: (name: EventObjectName) => Promise<ProviderResult<ProviderEventObject>>;
  /** Of the types that have an effect: an account tells of much else, which its webhooks aren't asked for either. */
  readonly listEvents: (page: ProviderPageRequest) => Promise<ProviderResult<ProviderPage<ProviderEvent>>>;
  /**
   * Verifies a webhook's signature over its raw bytes and reads the event.
   * INAUTHENTIC: no, wrong, or too old or too new a signature. MALFORMED: signed, yet without an id to store it by.
   */
  readonly readWebhook: (body: Uint8Array, signature: string | undefined, nowS: number) => WebhookReading;
}

export type WebhookReading =
  | { readonly kind: 'EVENT'; readonly event: ProviderEvent }
  | { readonly kind: 'INAUTHENTIC'; readonly reason: string }
  /** `field`: what of it is wrong or missing, by its place. */
  | { readonly kind: 'MALFORMED'; readonly reason: string; readonly field?: string };
