import type { OrderRef, RefundRef } from '../../kernel/keys.ts';
import type { Decimal } from '../../kernel/money.ts';
import type { OrderState } from './order-states.ts';

/** How many refunds of a payment there are, each an item of its own, and how many of them are PENDING. */
export interface RefundCounts {
  readonly refundCount: number;
  readonly pendingRefundCount: number;
}

/**
 * The aggregate: one item holds everything that decides what may happen to an order. Of its refunds it keeps what they come
 * to. Immutable; changes make copies.
 */
export interface Order extends OrderRef, RefundCounts {
  readonly kind: 'PURCHASE' | 'TOP_UP';
  readonly state: OrderState;
  /** Raised by exactly one per transition that clients see. */
  readonly version: number;
  /** Raised by every write; every write conditions on it. */
  readonly rev: number;
  /** The seller; a top-up has none. */
  readonly merchantId?: string;
  readonly currency: string;
  readonly amount: Decimal;
  /** What a top-up credits. */
  readonly asset?: string;
  readonly lines: readonly OrderLine[];
  /** Who opened it. */
  readonly actor: string;
  /** The merchant's own name for it. */
  readonly reference?: string;
  /** Whether an item beside it holds metadata of whoever opened it. */
  readonly hasMetadata: boolean;
  /** Opened with a scanned payment code: the customer's consent that lets a terminal charge it. */
  readonly consented: boolean;
  readonly payment?: OrderPayment | undefined;
  /**
   * What is neither given back nor about to be: paid − succeeded − pending. Dashboard refunds may take it below zero. While
   * the order is disputed none of it can be refunded: `refundableNow`.
   */
  readonly refundable: Decimal;
  readonly refunded: Decimal;
  readonly refundPending: Decimal;
  /** What was booked to `receivable:{account}` for this order, paid first by whatever puts value back for it. */
  readonly receivable: Decimal;
  readonly attempts: readonly Attempt[];
  readonly refundClaims: readonly RefundClaim[];
  readonly disputes: readonly Dispute[];
  readonly overpayments: readonly Overpayment[];
  readonly steps: readonly Step[];
  /** Where the customer pays a waiting payment: the voucher's page. */
  readonly voucher?: PaymentPage | undefined;
  /** When the provider was last asked about what waits, and how often. */
  readonly checks?: { readonly count: number; readonly lastAtMs: number } | undefined;
  readonly timeline: readonly Transition[];
  /** Transitions that the timeline doesn't list: notes that came after it was full, and what gave way to later states. */
  readonly unlistedNotes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface OrderLine {
  readonly sku?: string;
  readonly name: string;
  readonly quantity: number;
  readonly unitPrice: Decimal;
  readonly amount: Decimal;
}

export interface PaymentPage {
  readonly url: string;
  readonly expiresAtMs: number;
}

/** How the order was paid, once it was. */
export interface OrderPayment {
  readonly method: 'WALLET' | 'CHECKOUT' | 'CASH';
  readonly atMs: number;
  /** WALLET: the asset that was charged. */
  readonly asset?: string;
  /** CHECKOUT: the provider's payment id, or its session's id when nothing was due. */
  readonly paymentId?: string;
  /** CASH: the till that took it, `{merchant}/{terminal}`. */
  readonly terminalId?: string;
  /** WALLET: what the charge gave beside the goods, which a refund takes back in proportion. */
  readonly points?: Decimal;
  readonly co2Kg?: Decimal;
}

/** One try to have an order paid at the provider. */
export interface Attempt {
  readonly number: number;
  /** CLAIMED: somebody is asking the provider for a session. OPEN: there is one. CLOSED: it can't be paid any more. */
  readonly state: 'CLAIMED' | 'OPEN' | 'CLOSED';
  readonly lease?: Lease | undefined;
  /** Raised after a definite failure only: it makes the next key at the provider. */
  readonly tries: number;
  /** The parameters, frozen when it was claimed, so that every call with one key is the same call; until it is CLOSED. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly paymentMethodTypes: readonly string[];
  readonly expiresAtMs: number;
  /** Whether its payment page shows every line of the order; else one line stands for all. */
  readonly itemized: boolean;
  /** What the session carries at the provider, sealed: frozen too, while it is CLAIMED. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly sessionId?: string;
  readonly url?: string | undefined;
  /** The payment intent, once it is known. */
  readonly paymentId?: string;
}

/** Who works on a claim. Only its owner may complete it; after the lease exactly one caller takes over. */
export interface Lease {
  readonly owner: string;
  /** Absent: locked until the idempotency record's `ttl`. */
  readonly leaseEndMs?: number | undefined;
  /** The idempotency record to complete with it. */
  readonly request: { readonly principal: string; readonly operation: string; readonly key: string };
  readonly recordTtlS: number;
}

/** A refund that somebody is asking the provider for. */
export interface RefundClaim {
  readonly refundId: string;
  readonly lease: Lease;
}

/** Money of an order that goes back: an item of its own, which every change writes together with the order. */
export interface Refund extends RefundRef {
  /** The order's `rev` since the last write of this; 0 before the first. Its next write conditions on it. */
  readonly rev: number;
  readonly amount: Decimal;
  readonly state: 'PENDING' | 'SUCCEEDED' | 'FAILED';
  /** REQUESTED through us, or made in the provider's DASHBOARD. */
  readonly source: 'REQUESTED' | 'DASHBOARD';
  readonly reason?: string;
  readonly failureReason?: string | undefined;
  readonly actor: string;
  readonly createdAtMs: number;
  /** The payment that it gives back; without one, wallet or cash. */
  readonly paymentId?: string;
  readonly providerRefundId?: string;
  /** The entry that took the money out, once one did. */
  readonly entryId?: string;
  /** How many keys the provider has spent on failures, and when the present one was first to be sent. */
  readonly tries?: number;
  readonly triedAtMs?: number;
  /** When the provider was first seen not to have it since its key is spent. */
  readonly lookedAtMs?: number | undefined;
}

export interface Dispute {
  readonly disputeId: string;
  readonly paymentId: string;
  readonly status: 'inquiry' | 'open' | 'lost' | 'won' | 'cleared';
  readonly amount: Decimal;
  /** Whether its loss stands in the ledger. */
  readonly recorded: boolean;
  /** Against an overpayment: touches neither `refundable`, `disputed` nor state. */
  readonly ofOverpayment: boolean;
  /** The bank's word for why, such as `fraudulent`. */
  readonly reason?: string | undefined;
  /** Until when the merchant may answer it with evidence. */
  readonly dueByMs?: number | undefined;
}

/** A payment that arrived though the order was paid already: booked, and given back by a step. */
export interface Overpayment extends RefundCounts {
  readonly paymentId: string;
  readonly amount: Decimal;
  readonly refunded: Decimal;
  /** How many refunds of it the provider had when its step was done: so many there are to be told of. */
  readonly asked?: number | undefined;
}

export interface Step {
  readonly name: string;
  readonly state: 'PENDING' | 'DONE' | 'DEAD' | 'SKIPPED';
  readonly attempts: number;
  readonly nextAttemptAtMs: number;
  readonly owner?: string | undefined;
  readonly leaseEndMs?: number | undefined;
  readonly lastError?: string | undefined;
}

export const TRANSITION_CAUSES = [
  'CREATED',
  'CHECKOUT_OPENED',
  'PAYMENT_PROCESSING',
  'PAYMENT_DECLINED',
  'PAYMENT_FAILED',
  'PAYMENT_RECEIVED',
  'SURPLUS_RECEIVED',
  'WALLET_CHARGED',
  'CASH_RECEIVED',
  'SESSION_EXPIRED',
  'CANCELED',
  'STEP_DONE',
  'STEP_DEAD',
  'STEP_RETRIED',
  'STEP_SKIPPED',
  'COMPLETED',
  'REFUND_STARTED',
  'REFUND_SUCCEEDED',
  'REFUND_FAILED',
  'DISPUTE_OPENED',
  'DISPUTE_WON',
  'DISPUTE_LOST',
] as const;

export type TransitionCause = (typeof TRANSITION_CAUSES)[number];

export interface Transition {
  readonly version: number;
  readonly from?: OrderState;
  readonly to: OrderState;
  readonly cause: TransitionCause;
  readonly detail?: string;
  readonly actor: string;
  readonly atMs: number;
}

/** An attempt that can't be paid any more. Of what was asked for it keeps nothing: nobody asks for it again. */
export function closedAttempt(attempt: Attempt): Attempt {
  return {
    ...attempt,
    state: 'CLOSED',
    lease: undefined,
    successUrl: '',
    cancelUrl: '',
    paymentMethodTypes: [],
    itemized: false,
    metadata: undefined,
    url: undefined,
  };
}

/** An attempt that is being claimed or can be paid. */
export function openAttempt(order: Order): Attempt | undefined {
  return order.attempts.find((attempt) => attempt.state !== 'CLOSED');
}

/** Whether somebody is asking the provider for a session right now. */
export function hasClaimedAttempt(order: Order): boolean {
  return order.attempts.some((attempt) => attempt.state === 'CLAIMED');
}

/** Whether a dispute forbids refunds: any that is open or lost, of the order's own payment. */
export function isDisputed(order: Order): boolean {
  return order.disputes.some(
    (dispute) => !dispute.ofOverpayment && (dispute.status === 'open' || dispute.status === 'lost'),
  );
}

/** Whether every step is done, or was skipped by a person. */
export function stepsDone(order: Order): boolean {
  return order.steps.every(({ state }) => state === 'DONE' || state === 'SKIPPED');
}

/** The overpayment that a refund gives back; undefined for one of the order's own payment. */
export function overpaymentOf(
  { overpayments }: Order,
  { paymentId }: Pick<Refund, 'paymentId'>,
): Overpayment | undefined {
  return overpayments.find((overpayment) => overpayment.paymentId === paymentId);
}

/** The step that gives an overpayment back; its name tells which. */
export function overpaymentStepName(paymentId: string): string {
  return `refund-surplus:${paymentId}`;
}

/** How the refund of an overpayment is named at the provider: it is the ledger's own, of no order's refund. */
export function overpaymentRefundId(paymentId: string): string {
  return `surplus:${paymentId}`;
}

/**
 * Whether an overpayment's refund is under way at the provider: one is pending, or the provider had more when its step was
 * done than it has reported since. Failed ones count as reported. Where all were reported and failed, somebody has to act,
 * so there is nothing to wait for.
 */
export function awaitsOverpaymentRefund({
  amount,
  refunded,
  refundCount,
  pendingRefundCount,
  asked = 0,
}: Overpayment): boolean {
  return refunded.lt(amount) && (pendingRefundCount > 0 || refundCount < asked);
}
