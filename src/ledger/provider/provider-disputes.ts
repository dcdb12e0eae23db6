import { type Posting, ledgerAccount, reversed } from '../entry.ts';
import type { BalanceGuard } from '../entry-writes.ts';
import { type Decimal, add } from '../money.ts';
import { type OrderPatch, note, touch } from '../orders/order-changes.ts';
import { giveBack, providerRefundPosting, takeAsFact, toppedUpAsset } from '../orders/order-postings.ts';
import type { Dispute, Order, TransitionCause } from '../orders/order.ts';
import { furtherSteps } from '../orders/payments.ts';
import {
  type Change,
  type FactDecision,
  type Occasion,
  amountOfMinor,
  factEntry,
  happening,
  mismatch,
  stale,
} from './provider-facts.ts';

/** A dispute as the provider reports it, of a payment of the order's own or of a surplus one. */
export interface DisputeFacts {
  readonly disputeId: string;
  readonly paymentId: string;
  readonly status: Dispute['status'];
  readonly amountMinor: number;
  readonly currency: string;
  readonly surplus: boolean;
}

const RANK: Readonly<Record<Dispute['status'], number>> = {
  inquiry: 0,
  open: 1,
  lost: 2,
  won: 2,
  cleared: 2,
};

/**
 * Rank can't tell whether a closed dispute was closed anew or opened again, nor which of two amounts is the later: the
 * provider has to be asked.
 */
export interface AskDispute {
  readonly kind: 'ASK';
}

/**
 * What a dispute does: a flag beside the state; a lost one books one reversal, one won after it reverses that once
 * (docs/DESIGN.md §8).
 * @param balance of the wallet, for a top-up
 * @param isCurrent whether the facts are what the provider says now, rather than what an event once said
 */
export function applyDisputeFacts(
  order: Order,
  facts: DisputeFacts,
  balance: Decimal,
  isCurrent: boolean,
  occasion: Occasion,
): FactDecision | AskDispute {
  const amount = amountOfMinor(facts.amountMinor, facts.currency);
  if (amount === undefined || facts.currency !== order.currency)
    return mismatch('another currency than the order');
  const known = order.disputes.find(({ disputeId }) => disputeId === facts.disputeId);
  if (known?.status === facts.status) return sameStatus(order, known, amount, isCurrent, occasion);
  if (known !== undefined && !isCurrent && RANK[facts.status] <= RANK[known.status]) {
    return facts.status === 'inquiry' ? stale(`the dispute is ${known.status}`) : { kind: 'ASK' };
  }
  return advance(order, known, { ...facts, amount }, balance, occasion);
}

/** The amount may change while nothing is booked: the customer disputes more, or less. */
function sameStatus(
  order: Order,
  known: Dispute,
  amount: Decimal,
  isCurrent: boolean,
  { atMs }: Occasion,
): FactDecision | AskDispute {
  if (known.booked || known.amount.eq(amount)) return stale(`the dispute is ${known.status}`);
  if (!isCurrent) return { kind: 'ASK' };
  const disputes = replacedDispute(order, { ...known, amount });
  return { kind: 'CHANGE', before: order, after: touch(order, atMs, { disputes }) };
}

function advance(
  order: Order,
  known: Dispute | undefined,
  facts: DisputeFacts & { readonly amount: Decimal },
  balance: Decimal,
  occasion: Occasion,
): Change {
  const { disputeId, paymentId, status, surplus } = facts;
  const booked = known?.booked === true ? known : undefined;
  const isLoss = status === 'lost' && booked === undefined;
  const isReturn = booked !== undefined && (status === 'won' || status === 'cleared');
  const stands = isLoss || (booked !== undefined && !isReturn);
  // While its loss stands, a dispute is over what was booked.
  const amount = booked !== undefined && stands ? booked.amount : facts.amount;
  const dispute: Dispute = { disputeId, paymentId, status, amount, booked: stands, surplus };
  const booking = isLoss
    ? loss(order, dispute, balance)
    : isReturn
      ? returned(order, booked)
      : { moves: [], owed: order.owed };
  const isNewlyDisputed = !surplus && (status === 'open' || status === 'lost');
  const stepNames = isNewlyDisputed ? occasion.stepNames.afterDispute(order, disputeId) : [];
  const patch: OrderPatch = {
    disputes: known === undefined ? [...order.disputes, dispute] : replacedDispute(order, dispute),
    owed: booking.owed,
    steps: [...order.steps, ...furtherSteps(order, stepNames, occasion.atMs)],
  };
  const cause = causeOf(known, status);
  const detail = surplus ? `surplus payment ${paymentId}` : undefined;
  return {
    kind: 'CHANGE',
    before: order,
    after:
      cause === undefined
        ? touch(order, occasion.atMs, patch)
        : note(order, happening(cause, occasion, detail), patch),
    entry: factEntry(order, 'DISPUTE', booking.moves, occasion, { providerId: disputeId }),
    ...('guards' in booking ? { guards: booking.guards } : {}),
    ...(isLoss && !surplus && amount.gt(order.refundable) ? { alerts: ['RefundBeyondRefundable'] } : {}),
  };
}

/** What clients see of it: inquiries come and go without a word. */
function causeOf(known: Dispute | undefined, status: Dispute['status']): TransitionCause | undefined {
  switch (status) {
    case 'inquiry':
      return undefined;
    case 'open':
      return 'DISPUTE_OPENED';
    case 'lost':
      return 'DISPUTE_LOST';
    case 'won':
      return 'DISPUTE_WON';
    case 'cleared':
      return known?.status === 'open' || known?.status === 'lost' ? 'DISPUTE_WON' : undefined;
  }
}

interface DisputeBooking {
  readonly moves: readonly Posting[];
  readonly owed: Decimal;
  readonly guards?: Readonly<Record<string, BalanceGuard>>;
}

/** The bank took the money back: from whoever had it, whether it is still there or not. */
function loss(order: Order, { amount, surplus }: Dispute, balance: Decimal): DisputeBooking {
  if (surplus) return { moves: [surplusReturn(order, amount)], owed: order.owed };
  if (order.kind === 'PURCHASE') return { moves: [providerRefundPosting(order, amount)], owed: order.owed };
  const { accountId } = order;
  const taking = takeAsFact(accountId, toppedUpAsset(order), amount, balance, ledgerAccount.stripe);
  return { moves: taking.postings, owed: add(order.owed, taking.lacking), guards: taking.guards };
}

function returned(order: Order, { amount, surplus }: Dispute): DisputeBooking {
  if (surplus) return { moves: reversed([surplusReturn(order, amount)]), owed: order.owed };
  if (order.kind === 'PURCHASE')
    return { moves: reversed([providerRefundPosting(order, amount)]), owed: order.owed };
  const { postings, owed } = giveBack(order, toppedUpAsset(order), amount, ledgerAccount.stripe);
  return { moves: postings, owed };
}

/** Surplus money going back out through the provider: it never was the merchant's or the wallet's. */
export function surplusReturn(order: Order, amount: Decimal): Posting {
  return {
    debit: ledgerAccount.surplus(order.orderId),
    credit: ledgerAccount.stripe,
    asset: order.currency,
    amount,
  };
}

function replacedDispute(order: Order, dispute: Dispute): readonly Dispute[] {
  return order.disputes.map((other) => (other.disputeId === dispute.disputeId ? dispute : other));
}
