import { type Posting, ledgerAccount, reversed, type BalanceGuard } from '../entries/entry.ts';
import { type Decimal, add } from '../../kernel/money.ts';
import { type OrderPatch, note, touch } from '../orders/order-changes.ts';
import {
  creditReceivableThenWallet,
  providerRefundPosting,
  debitWalletOrReceivable,
  toppedUpAsset,
} from '../orders/postings.ts';
import type { Dispute, Order, TransitionCause } from '../orders/order.ts';
import type { FollowUpTrigger } from '../orders/follow-up-trigger.ts';
import { furtherSteps } from '../orders/payments.ts';
import { isReturnedBeyondPaid } from '../orders/returned.ts';
import {
  type OrderUpdate,
  type UpdateDecision,
  type DecisionContext,
  amountOfMinor,
  updateEntry,
  transitionDetails,
  mismatch,
  stale,
} from './update-decision.ts';

/** A dispute as the provider reports it, of a payment of the order's own or of an overpayment. */
export interface DisputeDetails {
  readonly disputeId: string;
  readonly paymentId: string;
  readonly status: Dispute['status'];
  readonly amountMinor: number;
  readonly currency: string;
  readonly ofOverpayment: boolean;
  readonly reason?: string;
  readonly dueByS?: number;
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
export function decideDispute(
  order: Order,
  details: DisputeDetails,
  balance: Decimal,
  isCurrent: boolean,
  context: DecisionContext,
): UpdateDecision | AskDispute {
  const amount = amountOfMinor(details.amountMinor, details.currency);
  if (amount === undefined || details.currency !== order.currency)
    return mismatch('another currency than the order');
  const known = order.disputes.find(({ disputeId }) => disputeId === details.disputeId);
  if (known?.status === details.status)
    return sameStatus(order, known, { ...details, amount }, isCurrent, context);
  if (known !== undefined && !isCurrent && RANK[details.status] <= RANK[known.status]) {
    return details.status === 'inquiry' ? stale(`the dispute is ${known.status}`) : { kind: 'ASK' };
  }
  return advance(order, known, { ...details, amount }, balance, context);
}

/** The amount may change while nothing is booked: the customer disputes more, or less. So may the day until when to answer. */
function sameStatus(
  order: Order,
  known: Dispute,
  details: ReportedDispute,
  isCurrent: boolean,
  { atMs }: DecisionContext,
): UpdateDecision | AskDispute {
  const amount = known.recorded ? known.amount : details.amount;
  const wording = described(known, details);
  const isSame =
    known.amount.eq(amount) && wording.reason === known.reason && wording.dueByMs === known.dueByMs;
  if (isSame) return stale(`the dispute is ${known.status}`);
  if (!isCurrent) return { kind: 'ASK' };
  const disputes = replacedDispute(order, { ...known, ...wording, amount });
  return { kind: 'CHANGE', before: order, after: touch(order, atMs, { disputes }) };
}

type ReportedDispute = DisputeDetails & { readonly amount: Decimal };

/** What is told of a dispute beside its money; what isn't told again stays. */
function described(
  known: Dispute | undefined,
  { reason = known?.reason, dueByS }: DisputeDetails,
): Pick<Dispute, 'reason' | 'dueByMs'> {
  return { reason, dueByMs: dueByS === undefined ? known?.dueByMs : dueByS * 1000 };
}

function advance(
  order: Order,
  known: Dispute | undefined,
  details: ReportedDispute,
  balance: Decimal,
  context: DecisionContext,
): OrderUpdate {
  const { disputeId, paymentId, status, ofOverpayment } = details;
  const recorded = known?.recorded === true ? known : undefined;
  const isLoss = status === 'lost' && recorded === undefined;
  const isReturn = recorded !== undefined && (status === 'won' || status === 'cleared');
  const stands = isLoss || (recorded !== undefined && !isReturn);
  // While its loss stands, a dispute is over what was booked.
  const amount = recorded !== undefined && stands ? recorded.amount : details.amount;
  const dispute: Dispute = {
    disputeId,
    paymentId,
    status,
    amount,
    recorded: stands,
    ofOverpayment,
    ...described(known, details),
  };
  const recordedLoss = isLoss
    ? loss(order, dispute, balance)
    : isReturn
      ? returned(order, recorded)
      : { moves: [], receivable: order.receivable };
  const cause = causeOf(known, status);
  const kind = ofOverpayment || cause === undefined ? undefined : FOLLOW_UP_OF[cause];
  const { atMs } = context;
  const stepNames = kind === undefined ? [] : context.stepNames({ kind, disputeId, atMs }, order);
  const patch: OrderPatch = {
    disputes: known === undefined ? [...order.disputes, dispute] : replacedDispute(order, dispute),
    receivable: recordedLoss.receivable,
    steps: [...order.steps, ...furtherSteps(order, stepNames, atMs)],
  };
  const detail = ofOverpayment ? `surplus payment ${paymentId}` : undefined;
  const after =
    cause === undefined
      ? touch(order, atMs, patch)
      : note(order, transitionDetails(cause, context, detail), patch);
  return {
    kind: 'CHANGE',
    before: order,
    after,
    entry: updateEntry(order, 'DISPUTE', recordedLoss.moves, context, { providerId: disputeId }),
    ...('guards' in recordedLoss ? { guards: recordedLoss.guards } : {}),
    ...(isLoss && ((!ofOverpayment && amount.gt(order.refundable)) || isReturnedBeyondPaid(after))
      ? { alerts: ['RefundBeyondRefundable'] }
      : {}),
  };
}

type DisputeCause = Extract<TransitionCause, `DISPUTE_${string}`>;

const FOLLOW_UP_OF = {
  DISPUTE_OPENED: 'disputed',
  DISPUTE_WON: 'dispute-won',
  DISPUTE_LOST: 'dispute-lost',
} as const satisfies Readonly<Record<DisputeCause, FollowUpTrigger['kind']>>;

/** What clients see of it: inquiries come and go without a word. */
function causeOf(known: Dispute | undefined, status: Dispute['status']): DisputeCause | undefined {
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

interface DisputeRecording {
  readonly moves: readonly Posting[];
  readonly receivable: Decimal;
  readonly guards?: Readonly<Record<string, BalanceGuard>>;
}

/** The bank took the money back: from whoever had it, whether it is still there or not. */
function loss(order: Order, { amount, ofOverpayment }: Dispute, balance: Decimal): DisputeRecording {
  if (ofOverpayment) return { moves: [overpaymentReturn(order, amount)], receivable: order.receivable };
  if (order.kind === 'PURCHASE')
    return { moves: [providerRefundPosting(order, amount)], receivable: order.receivable };
  const { accountId } = order;
  const taking = debitWalletOrReceivable(
    accountId,
    toppedUpAsset(order),
    amount,
    balance,
    ledgerAccount.stripe,
  );
  return {
    moves: taking.postings,
    receivable: add(order.receivable, taking.shortfall),
    guards: taking.guards,
  };
}

function returned(order: Order, { amount, ofOverpayment }: Dispute): DisputeRecording {
  if (ofOverpayment)
    return { moves: reversed([overpaymentReturn(order, amount)]), receivable: order.receivable };
  if (order.kind === 'PURCHASE')
    return { moves: reversed([providerRefundPosting(order, amount)]), receivable: order.receivable };
  const { postings, receivable } = creditReceivableThenWallet(
    order,
    toppedUpAsset(order),
    amount,
    ledgerAccount.stripe,
  );
  return { moves: postings, receivable };
}

/** Surplus money going back out through the provider: it never was the merchant's or the wallet's. */
export function overpaymentReturn(order: Order, amount: Decimal): Posting {
  return {
    debit: ledgerAccount.overpayment(order.orderId),
    credit: ledgerAccount.stripe,
    asset: order.currency,
    amount,
  };
}

function replacedDispute(order: Order, dispute: Dispute): readonly Dispute[] {
  return order.disputes.map((other) => (other.disputeId === dispute.disputeId ? dispute : other));
}
