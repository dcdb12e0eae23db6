import { type Posting, ledgerAccount, reversed } from '../entry.ts';
import type { BalanceGuard } from '../entry-writes.ts';
import { type Decimal, ZERO, add } from '../money.ts';
import { note, touch } from '../orders/order-changes.ts';
import { giveBack, providerRefundPosting, takeAsFact, toppedUpAsset } from '../orders/order-postings.ts';
import { type Order, type Refund, findRefund } from '../orders/order.ts';
import {
  type Change,
  type FactDecision,
  type Occasion,
  PROVIDER_ACTOR,
  amountOfMinor,
  factEntry,
  happening,
  mismatch,
  stale,
} from './provider-facts.ts';
import { beginRefund, completeRefundAtOnce, failRefund, replaced, succeedRefund } from '../orders/refunds.ts';

/** A refund as the provider reports it. */
export interface RefundFacts {
  readonly providerRefundId: string;
  readonly paymentId: string;
  readonly state: Refund['state'];
  readonly amountMinor: number;
  readonly currency: string;
  readonly failureReason?: string | undefined;
  /** The refund of ours that its metadata names. */
  readonly refundId?: string | undefined;
}

/** A refund may fail after it had succeeded, never the other way round: so its rank settles what came first. */
const RANK: Readonly<Record<Refund['state'], number>> = { PENDING: 0, SUCCEEDED: 1, FAILED: 2 };

/** Whether a refund's state tells nothing that isn't known already. */
export function isPassed(known: Refund['state'], told: Refund['state']): boolean {
  return RANK[told] <= RANK[known];
}

/**
 * What a refund of an order's own payment does: settles ours, or records one made in the dashboard. It is a fact, so it
 * is booked although it may take `refundable` below zero (docs/DESIGN.md §8).
 * @param balance of the wallet, for a top-up
 */
export function applyRefundFacts(
  order: Order,
  facts: RefundFacts,
  balance: Decimal,
  occasion: Occasion,
): FactDecision {
  const amount = amountOfMinor(facts.amountMinor, facts.currency);
  if (amount === undefined || facts.currency !== order.currency)
    return mismatch('another currency than the order');
  const known = knownRefund(order, facts);
  if (known === undefined) return recordDashboardRefund(order, facts, amount, balance, occasion);
  if (!known.amount.eq(amount)) return mismatch('another amount than the refund');
  if (isPassed(known.state, facts.state)) return learnRefund(order, known, facts, occasion);
  return facts.state === 'FAILED'
    ? fail(order, known, facts, occasion)
    : succeed(order, known, facts, occasion);
}

/**
 * The refund that is told of: by the provider's id, else by ours. One that was released because the provider couldn't
 * have made it is not it, if the provider says now that it exists: that is another fact.
 */
export function knownRefund(
  order: Order,
  { providerRefundId, refundId, state }: RefundFacts,
): Refund | undefined {
  const byProvider = order.refunds.find((refund) => refund.providerRefundId === providerRefundId);
  if (byProvider !== undefined || refundId === undefined) return byProvider;
  const named = findRefund(order, refundId);
  if (named?.providerRefundId !== undefined) return undefined;
  return named?.state === 'FAILED' && state !== 'FAILED' ? undefined : named;
}

function learnRefund(
  order: Order,
  known: Refund,
  { providerRefundId }: RefundFacts,
  { atMs }: Occasion,
): FactDecision {
  if (known.providerRefundId !== undefined) return stale(`the refund is ${known.state}`);
  const after = touch(order, atMs, { refunds: replaced(order, { ...known, providerRefundId }) });
  return { kind: 'CHANGE', before: order, after };
}

/** A purchase's money goes out now; a top-up's value was taken when the refund began. */
function succeed(order: Order, known: Refund, { providerRefundId }: RefundFacts, occasion: Occasion): Change {
  const { refundId, amount } = known;
  const entry =
    order.kind === 'PURCHASE'
      ? factEntry(order, 'REFUND', [providerRefundPosting(order, amount)], occasion, {
          providerId: providerRefundId,
          refundId,
        })
      : undefined;
  const settled = { providerRefundId, ...(entry === undefined ? {} : { entryId: entry.entryId }) };
  const stepNames = occasion.stepNames.afterRefund(order, refundId);
  const what = { actor: PROVIDER_ACTOR, atMs: occasion.atMs };
  return {
    kind: 'CHANGE',
    before: order,
    after: succeedRefund(order, refundId, settled, stepNames, what),
    entry,
  };
}

/** What was booked for the refund is put back: once, since a failed refund stays failed. */
function fail(order: Order, known: Refund, facts: RefundFacts, occasion: Occasion): Change {
  const { refundId, amount, state } = known;
  const { providerRefundId, failureReason = 'failed' } = facts;
  const back =
    order.kind === 'TOP_UP'
      ? giveBack(order, toppedUpAsset(order), amount, ledgerAccount.stripe)
      : {
          postings: state === 'SUCCEEDED' ? reversed([providerRefundPosting(order, amount)]) : [],
          owed: order.owed,
        };
  const what = { actor: PROVIDER_ACTOR, atMs: occasion.atMs };
  return {
    kind: 'CHANGE',
    before: order,
    after: failRefund(order, refundId, { providerRefundId, failureReason }, what, { owed: back.owed }),
    entry: factEntry(order, 'REFUND', back.postings, occasion, { providerId: providerRefundId, refundId }),
  };
}

function recordDashboardRefund(
  order: Order,
  facts: RefundFacts,
  amount: Decimal,
  balance: Decimal,
  occasion: Occasion,
): Change {
  const { providerRefundId, paymentId, state, failureReason } = facts;
  const refund: Refund = {
    refundId: providerRefundId,
    providerRefundId,
    paymentId,
    amount,
    state,
    source: 'DASHBOARD',
    actor: PROVIDER_ACTOR,
    createdAtMs: occasion.atMs,
    tries: 0,
  };
  if (state === 'FAILED') return recordFailed(order, { ...refund, failureReason }, occasion);
  const { moves, guards, lacking } = outgoing(order, state, amount, balance);
  const entry = factEntry(order, 'REFUND', moves, occasion, {
    providerId: providerRefundId,
    refundId: providerRefundId,
  });
  const booked: Refund = { ...refund, ...(entry === undefined ? {} : { entryId: entry.entryId }) };
  const owing: Order = { ...order, owed: add(order.owed, lacking) };
  const what = { actor: PROVIDER_ACTOR, atMs: occasion.atMs };
  const after =
    state === 'PENDING'
      ? beginRefund(owing, booked, what)
      : completeRefundAtOnce(owing, booked, occasion.stepNames.afterRefund(order, booked.refundId), what);
  return {
    kind: 'CHANGE',
    before: order,
    after,
    entry,
    guards,
    ...(after.refundable.isNegative() ? { alerts: ['RefundBeyondRefundable'] } : {}),
  };
}

/** It moved nothing, but what was told before and arrives later must find that it has failed. */
function recordFailed(order: Order, refund: Refund, occasion: Occasion): Change {
  const after = note(order, happening('REFUND_FAILED', occasion, refund.failureReason), {
    refunds: [...order.refunds, refund],
  });
  return { kind: 'CHANGE', before: order, after };
}

/** What leaves with a refund: of a purchase when it succeeds, of a top-up as soon as it begins. */
function outgoing(
  order: Order,
  state: Refund['state'],
  amount: Decimal,
  balance: Decimal,
): {
  readonly moves: readonly Posting[];
  readonly guards: Readonly<Record<string, BalanceGuard>>;
  readonly lacking: Decimal;
} {
  if (order.kind === 'PURCHASE') {
    const moves = state === 'SUCCEEDED' ? [providerRefundPosting(order, amount)] : [];
    return { moves, guards: {}, lacking: ZERO };
  }
  const { accountId } = order;
  const taking = takeAsFact(accountId, toppedUpAsset(order), amount, balance, ledgerAccount.stripe);
  return { moves: taking.postings, guards: taking.guards, lacking: taking.lacking };
}
