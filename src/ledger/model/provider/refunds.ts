import { isReturnedBeyondPaid } from '../orders/returned.ts';
import { type Entry, type Posting, ledgerAccount, reversed, type BalanceGuard } from '../entries/entry.ts';
import { isUlid } from '../../kernel/id-grammar.ts';
import { type Decimal, ZERO, add } from '../../kernel/money.ts';
import { touch } from '../orders/order-changes.ts';
import { ulidTimeMs } from '../../kernel/ulid-time.ts';
import {
  providerRefundPosting,
  debitWalletOrReceivable,
  putBackRefund,
  toppedUpAsset,
} from '../orders/postings.ts';
import type { Order, Refund } from '../orders/order.ts';
import {
  type OrderUpdate,
  type UpdateDecision,
  type DecisionContext,
  PROVIDER_ACTOR,
  amountOfMinor,
  updateEntry,
  mismatch,
  stale,
} from './update-decision.ts';
import {
  type RefundChange,
  beginRefund,
  completeRefundSynchronously,
  failRefund,
  recordFailedRefund,
  succeedRefund,
} from '../orders/refunds.ts';

/** A refund as the provider reports it. */
export interface RefundDetails {
  readonly providerRefundId: string;
  readonly paymentId: string;
  readonly state: Refund['state'];
  readonly amountMinor: number;
  readonly currency: string;
  readonly failureReason?: string | undefined;
  /** The refund of ours that its metadata names. */
  readonly refundId?: string | undefined;
  /** After a loss the refund that it names may be one that the order has lost. */
  readonly mayRestore?: boolean | undefined;
}

/** What a refund of a top-up meets: the balance, and what of the refund the wallet lacked when it was taken. */
export interface ToppedUpWallet {
  readonly balance: Decimal;
  readonly shortfall: Decimal;
}

/** A refund may fail after it had succeeded, never the other way round: so its rank settles what came first. */
const RANK: Readonly<Record<Refund['state'], number>> = { PENDING: 0, SUCCEEDED: 1, FAILED: 2 };

/** Whether a refund's state tells nothing that isn't known already. */
export function isPassed(known: Refund['state'], reported: Refund['state']): boolean {
  return RANK[reported] <= RANK[known];
}

/**
 * What a refund of an order's own payment does: settles ours, or records one made in the dashboard. It is a fact, so it
 * is booked although it may take `refundable` below zero (docs/DESIGN.md §8).
 * @param known the refund that is told of; undefined where the order has none
 * @param wallet of a top-up
 */
export function decideRefund(
  order: Order,
  known: Refund | undefined,
  details: RefundDetails,
  { balance, shortfall }: ToppedUpWallet,
  context: DecisionContext,
): UpdateDecision {
  const amount = amountOfMinor(details.amountMinor, details.currency);
  if (amount === undefined || details.currency !== order.currency)
    return mismatch('another currency than the order');
  if (known === undefined) return recordDashboardRefund(order, details, amount, balance, context);
  if (!known.amount.eq(amount)) return mismatch('another amount than the refund');
  if (isPassed(known.state, details.state)) return recordProviderRefundId(order, known, details, context);
  return details.state === 'FAILED'
    ? fail(order, known, details, shortfall, context)
    : succeed(order, known, details, context);
}

/**
 * The refund that is told of: by the provider's id, else by ours. One that was released because the provider couldn't
 * have made it is not it, if the provider says now that it exists: that is another fact.
 */
export function knownRefund(
  refunds: readonly Refund[],
  { providerRefundId, refundId, state }: RefundDetails,
): Refund | undefined {
  const byProvider = refunds.find((refund) => refund.providerRefundId === providerRefundId);
  if (byProvider !== undefined || refundId === undefined) return byProvider;
  const named = refunds.find((refund) => refund.refundId === refundId);
  if (named?.providerRefundId !== undefined) return undefined;
  return named?.state === 'FAILED' && state !== 'FAILED' ? undefined : named;
}

function recordProviderRefundId(
  order: Order,
  known: Refund,
  { providerRefundId }: RefundDetails,
  { atMs }: DecisionContext,
): UpdateDecision {
  if (known.providerRefundId !== undefined) return stale(`the refund is ${known.state}`);
  return changed(order, { order: touch(order, atMs, {}), refund: { ...known, providerRefundId } });
}

/** A purchase's money goes out now; a top-up's value was taken when the refund began. */
function succeed(
  order: Order,
  known: Refund,
  { providerRefundId }: RefundDetails,
  context: DecisionContext,
): OrderUpdate {
  const { refundId, amount } = known;
  const entry =
    order.kind === 'PURCHASE'
      ? updateEntry(order, 'REFUND', [providerRefundPosting(order, amount)], context, {
          providerId: providerRefundId,
          refundId,
        })
      : undefined;
  const settled = { providerRefundId, ...(entry === undefined ? {} : { entryId: entry.entryId }) };
  const stepNames = context.stepNames({ kind: 'refunded', refundId, atMs: context.atMs }, order);
  const what = { actor: PROVIDER_ACTOR, atMs: context.atMs };
  return { ...changed(order, succeedRefund(order, known, settled, stepNames, what)), entry };
}

function changed(before: Order, { order, refund }: RefundChange): OrderUpdate {
  return { kind: 'CHANGE', before, after: order, refund };
}

function fail(
  order: Order,
  known: Refund,
  { providerRefundId, failureReason = 'failed' }: RefundDetails,
  shortfall: Decimal,
  context: DecisionContext,
): OrderUpdate {
  const settled = { providerRefundId, failureReason };
  const { entry, ...change } = releaseRefund(
    order,
    known,
    settled,
    { actor: PROVIDER_ACTOR, shortfall },
    context,
  );
  return { ...changed(order, change), entry };
}

/**
 * What was booked for a refund is put back: once, since a failed refund stays failed. Its amount may be refunded again.
 * @param by who says so; what its wallet lacked when it was taken
 */
export function releaseRefund(
  order: Order,
  refund: Refund,
  settled: Pick<Refund, 'providerRefundId' | 'failureReason'>,
  { actor, shortfall }: { readonly actor: string; readonly shortfall: Decimal },
  context: DecisionContext,
): RefundChange & { readonly entry: Entry | undefined } {
  const { refundId, amount, state } = refund;
  const back =
    order.kind === 'TOP_UP'
      ? putBackRefund(order, refund, shortfall)
      : {
          postings: state === 'SUCCEEDED' ? reversed([providerRefundPosting(order, amount)]) : [],
          receivable: order.receivable,
        };
  const ids = { providerId: settled.providerRefundId, refundId };
  const entry = updateEntry(order, 'REFUND', back.postings, context, ids);
  const { atMs } = context;
  const stepNames = context.stepNames({ kind: 'refund-failed', refundId, atMs }, order);
  const { receivable } = back;
  return {
    ...failRefund(order, refund, settled, stepNames, { actor, atMs }, { receivable }),
    entry: entry === undefined ? undefined : { ...entry, actor },
  };
}

function recordDashboardRefund(
  order: Order,
  details: RefundDetails,
  amount: Decimal,
  balance: Decimal,
  context: DecisionContext,
): OrderUpdate {
  const { providerRefundId, state, failureReason } = details;
  const refund = providerRefund(order, details, amount, context);
  const what = { actor: PROVIDER_ACTOR, atMs: context.atMs };
  if (state === 'FAILED') {
    const { refundId } = refund;
    const stepNames = context.stepNames({ kind: 'refund-failed', refundId, atMs: context.atMs }, order);
    return changed(order, recordFailedRefund(order, { ...refund, failureReason }, stepNames, what));
  }
  const { moves, guards, shortfall } = outgoing(order, state, amount, balance);
  const entry = updateEntry(order, 'REFUND', moves, context, {
    providerId: providerRefundId,
    refundId: refund.refundId,
  });
  const recorded: Refund = { ...refund, ...(entry === undefined ? {} : { entryId: entry.entryId }) };
  const owing: Order = { ...order, receivable: add(order.receivable, shortfall) };
  const change =
    state === 'PENDING'
      ? beginRefund(owing, recorded, what)
      : completeRefundSynchronously(
          owing,
          recorded,
          context.stepNames({ kind: 'refunded', refundId: recorded.refundId, atMs: context.atMs }, order),
          what,
        );
  return {
    ...changed(order, change),
    entry,
    guards,
    ...(change.order.refundable.isNegative() || (state === 'SUCCEEDED' && isReturnedBeyondPaid(change.order))
      ? { alerts: ['RefundBeyondRefundable'] }
      : {}),
  };
}

/** A refund that the provider alone has made, by its own name for it. */
export function providerRefund(
  { tenant, accountId, orderId }: Order,
  { providerRefundId, paymentId, state, refundId, mayRestore }: RefundDetails,
  amount: Decimal,
  { atMs }: DecisionContext,
): Refund {
  // After a loss it may be one of ours that isn't there any more.
  const lost = mayRestore === true && refundId !== undefined && isUlid(refundId) ? refundId : undefined;
  return {
    tenant,
    accountId,
    orderId,
    refundId: lost ?? providerRefundId,
    rev: 0,
    providerRefundId,
    paymentId,
    amount,
    state,
    source: lost === undefined ? 'DASHBOARD' : 'REQUESTED',
    actor: PROVIDER_ACTOR,
    createdAtMs: lost === undefined ? atMs : ulidTimeMs(lost),
  };
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
  readonly shortfall: Decimal;
} {
  if (order.kind === 'PURCHASE') {
    const moves = state === 'SUCCEEDED' ? [providerRefundPosting(order, amount)] : [];
    return { moves, guards: {}, shortfall: ZERO };
  }
  const { accountId } = order;
  const taking = debitWalletOrReceivable(
    accountId,
    toppedUpAsset(order),
    amount,
    balance,
    ledgerAccount.stripe,
  );
  return { moves: taking.postings, guards: taking.guards, shortfall: taking.shortfall };
}
