import { type Posting, reversed } from '../entries/entry.ts';
import { type Decimal, ZERO, add, subtract } from '../../kernel/money.ts';
import { type OrderPatch, note, touch } from '../orders/order-changes.ts';
import { isFull } from '../orders/order-size.ts';
import type { Order, Refund, Overpayment, OverpaymentRefund, TransitionCause } from '../orders/order.ts';
import { overpaymentReturn } from './disputes.ts';
import {
  type UpdateDecision,
  type DecisionContext,
  amountOfMinor,
  updateEntry,
  transitionDetails,
  mismatch,
  stale,
} from './update-decision.ts';
import { type RefundDetails, isPassed } from './refunds.ts';
import { countedOverflow, overpaymentOverflowRefund } from './overflow-refunds.ts';

/**
 * What a refund of an overpayment does: it touches neither `refundable` nor the state (docs/DESIGN.md §8).
 * @param kept what is kept of this very refund beside the order, which was full
 */
export function decideOverpaymentRefund(
  order: Order,
  details: RefundDetails,
  kept: Refund | undefined,
  context: DecisionContext,
): UpdateDecision {
  const overpayment = order.overpayments.find(({ paymentId }) => paymentId === details.paymentId);
  const amount = amountOfMinor(details.amountMinor, details.currency);
  if (overpayment === undefined || amount === undefined || details.currency !== order.currency)
    return mismatch('another currency than the order');
  const { providerRefundId, state } = details;
  const listed = overpayment.refunds.find((refund) => refund.providerRefundId === providerRefundId);
  const known = listed ?? kept;
  if (known !== undefined && isPassed(known.state, state)) return stale(`the refund is ${known.state}`);
  if (known !== undefined && !known.amount.eq(amount)) return mismatch('another amount than the refund');
  const reported: OverpaymentRefund = { providerRefundId, amount, state };
  const { moves, refunded, cause } = effectOf(order, overpayment, known, reported);
  const isOverflow = listed === undefined && (kept !== undefined || isFull(order));
  const others = overpayment.refunds.filter((refund) => refund !== listed);
  const after: Overpayment = isOverflow
    ? { ...overpayment, refunded, refunds: others, overflow: reportedOverflow(overpayment, kept, reported) }
    : { ...overpayment, refunded, refunds: [...others, reported] };
  const patch: OrderPatch = {
    ...(isOverflow && kept === undefined ? { overflow: countedOverflow(order) } : {}),
    overpayments: order.overpayments.map((other) => (other.paymentId === after.paymentId ? after : other)),
  };
  const detail = `surplus payment ${overpayment.paymentId}`;
  return {
    kind: 'CHANGE',
    before: order,
    after:
      cause === undefined
        ? touch(order, context.atMs, patch)
        : note(order, transitionDetails(cause, context, detail), patch),
    entry: updateEntry(order, 'REFUND', moves, context, { providerId: providerRefundId }),
    ...(isOverflow
      ? { overflow: overpaymentOverflowRefund(overpayment.paymentId, reported, context.atMs) }
      : {}),
    // Nothing gives it back by itself any more: somebody has to.
    ...(state === 'FAILED' ? { alerts: ['SurplusPayment'] } : {}),
  };
}

/** What the payment says of its refunds that have items of their own. */
function reportedOverflow(
  { overflow }: Overpayment,
  kept: Refund | undefined,
  reported: OverpaymentRefund,
): NonNullable<Overpayment['overflow']> {
  const before = kept === undefined ? { count: 0, pending: ZERO } : { count: 1, pending: pendingOf(kept) };
  // An earlier release didn't count the overflow refunds of an overpayment.
  const { count, pending } = overflow ?? before;
  return {
    count: kept === undefined ? count + 1 : count,
    pending: add(subtract(pending, kept === undefined ? ZERO : pendingOf(kept)), pendingOf(reported)),
  };
}

function pendingOf({ state, amount }: OverpaymentRefund | Refund): Decimal {
  return state === 'PENDING' ? amount : ZERO;
}

interface Effect {
  readonly moves: readonly Posting[];
  readonly refunded: Overpayment['refunded'];
  readonly cause?: TransitionCause;
}

function effectOf(
  order: Order,
  { refunded }: Overpayment,
  known: Pick<OverpaymentRefund, 'state'> | undefined,
  { amount, state }: OverpaymentRefund,
): Effect {
  const posting = overpaymentReturn(order, amount);
  switch (state) {
    case 'PENDING':
      return { moves: [], refunded };
    case 'SUCCEEDED':
      return { moves: [posting], refunded: add(refunded, amount), cause: 'REFUND_SUCCEEDED' };
    case 'FAILED':
      return known?.state === 'SUCCEEDED'
        ? { moves: reversed([posting]), refunded: subtract(refunded, amount), cause: 'REFUND_FAILED' }
        : { moves: [], refunded, cause: 'REFUND_FAILED' };
  }
}
