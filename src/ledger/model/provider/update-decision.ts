import { currency, isCurrency } from '../../kernel/currencies.ts';
import { defined } from '../../kernel/defined.ts';
import {
  type Entry,
  type EntryOperation,
  type Posting,
  postings,
  type BalanceGuard,
} from '../entries/entry.ts';
import { type Decimal, fromMinorUnits } from '../../kernel/money.ts';
import type { StepNames } from '../orders/follow-up-trigger.ts';
import type { TransitionDetails } from '../orders/order-changes.ts';
import type { Order, Refund, TransitionCause } from '../orders/order.ts';
import type { OrderRef } from '../../kernel/keys.ts';

/** Who causes what the provider tells of. */
export const PROVIDER_ACTOR = 'stripe';

/** When a fact is taken up, and the id of the entry that it may need. */
export interface DecisionContext {
  readonly atMs: number;
  readonly entryId: string;
  readonly stepNames: StepNames;
}

/** What operators are told when it commits. */
export type Alert = 'SurplusPayment' | 'RefundBeyondRefundable' | 'RecordedPaymentRestored';

/** What a fact of the provider does: to its order, with the entry that books it. All of it commits together. */
export interface OrderUpdate {
  readonly kind: 'CHANGE';
  readonly before: Order;
  readonly after: Order;
  readonly entry?: Entry | undefined;
  readonly guards?: Readonly<Record<string, BalanceGuard>>;
  /** The payment that is booked with it. */
  readonly recorded?: RecordedPayment;
  /** The refund that it is about, as it is after the change. */
  readonly refund?: Refund;
  readonly alerts?: readonly Alert[];
}

/** A fact without effect of its own, and why; APPLIED where it made others be applied. */
export interface NoChange {
  readonly kind: 'NO_CHANGE';
  readonly outcome: Exclude<EventOutcome, 'FAILED'>;
  readonly detail: string;
}

export type UpdateDecision = OrderUpdate | NoChange;

export function stale(detail: string): NoChange {
  return { kind: 'NO_CHANGE', outcome: 'STALE', detail };
}

export function ignored(detail: string): NoChange {
  return { kind: 'NO_CHANGE', outcome: 'IGNORED', detail };
}

export function mismatch(detail: string): NoChange {
  return { kind: 'NO_CHANGE', outcome: 'MISMATCH', detail };
}

/** An amount in the provider's smallest units; undefined for a currency that isn't on our list: never a guess. */
export function amountOfMinor(minor: number, code: string): Decimal | undefined {
  return isCurrency(code) ? fromMinorUnits(minor, currency(code).exponent) : undefined;
}

/** Money as the provider counts it, where it says so. */
export interface MinorAmount {
  readonly amountMinor?: number;
  readonly currency?: string;
}

/** Why a payment isn't what was ordered; undefined if it is, to the unit. */
export function amountObjection(
  order: Order,
  { amountMinor, currency: code }: MinorAmount,
): NoChange | undefined {
  if (code === undefined || amountMinor === undefined) return mismatch('no amount');
  if (code !== order.currency) return mismatch('another currency than the order');
  const amount = amountOfMinor(amountMinor, code);
  return amount?.eq(order.amount) === true ? undefined : mismatch('another amount than the order');
}

export function transitionDetails(
  cause: TransitionCause,
  { atMs }: DecisionContext,
  detail?: string,
): TransitionDetails {
  return { cause, actor: PROVIDER_ACTOR, atMs, detail };
}

/** The entry that books a fact; undefined where nothing moves, as for an order of nothing. */
export function updateEntry(
  order: Order,
  operation: EntryOperation,
  moves: readonly Posting[],
  { atMs, entryId }: DecisionContext,
  ids: { readonly providerId: string | undefined; readonly refundId?: string | undefined },
): Entry | undefined {
  const moved = postings(...moves);
  if (moved.length === 0) return undefined;
  return {
    tenant: order.tenant,
    accountId: order.accountId,
    entryId,
    operation,
    postings: moved,
    orderId: order.orderId,
    ...defined({ providerId: ids.providerId, refundId: ids.refundId }),
    actor: PROVIDER_ACTOR,
    atMs,
  };
}

/**
 * What came of an event. APPLIED: it changed an order. STALE: what it tells was known or is past. IGNORED: not about
 * us. MISMATCH: it names an order of ours, yet isn't what was ordered. FAILED: a note that applying it went wrong.
 */
export const EVENT_OUTCOMES = ['APPLIED', 'STALE', 'IGNORED', 'MISMATCH', 'FAILED'] as const;

export type EventOutcome = (typeof EVENT_OUTCOMES)[number];

/** Which order a provider payment was booked for, and as what: put once, never changed, no TTL (I3). */
export interface RecordedPayment extends OrderRef {
  /** The payment's id, or its session's where nothing was due. */
  readonly paymentId: string;
  readonly recordedAs: 'ORDER' | 'SURPLUS';
  readonly attempt: number;
  readonly currency: string;
  readonly amount: Decimal;
  readonly atMs: number;
}
