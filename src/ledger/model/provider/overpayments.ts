import { type Posting, reversed } from '../entries/entry.ts';
import { add, subtract } from '../../kernel/money.ts';
import { type OrderPatch, note, touch } from '../orders/order-changes.ts';
import {
  type Order,
  type Overpayment,
  type Refund,
  type TransitionCause,
  overpaymentOf,
} from '../orders/order.ts';
import { recounted } from '../orders/refunds.ts';
import { isReturnedBeyondPaid } from '../orders/returned.ts';
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
import { type RefundDetails, isPassed, providerRefund } from './refunds.ts';

/**
 * What a refund of an overpayment does: it touches neither `refundable` nor the state (docs/DESIGN.md §8).
 * @param known this very refund, where it was told of before
 */
export function decideOverpaymentRefund(
  order: Order,
  known: Refund | undefined,
  details: RefundDetails,
  context: DecisionContext,
): UpdateDecision {
  const overpayment = overpaymentOf(order, details);
  const amount = amountOfMinor(details.amountMinor, details.currency);
  if (overpayment === undefined || amount === undefined || details.currency !== order.currency)
    return mismatch('another currency than the order');
  const { providerRefundId, state, failureReason } = details;
  if (known !== undefined && isPassed(known.state, state)) return stale(`the refund is ${known.state}`);
  if (known !== undefined && !known.amount.eq(amount)) return mismatch('another amount than the refund');
  const refund: Refund = {
    ...(known ?? providerRefund(order, details, amount, context)),
    state,
    ...(state === 'FAILED' ? { failureReason } : {}),
  };
  const { moves, refunded, cause } = effectOf(order, overpayment, known?.state, refund);
  const after: Overpayment = { ...overpayment, ...recounted(overpayment, known?.state, state), refunded };
  const patch: OrderPatch = {
    overpayments: order.overpayments.map((other) => (other === overpayment ? after : other)),
  };
  const detail = `surplus payment ${overpayment.paymentId}`;
  const changed =
    cause === undefined
      ? touch(order, context.atMs, patch)
      : note(order, transitionDetails(cause, context, detail), patch);
  const isBeyond = state === 'SUCCEEDED' && isReturnedBeyondPaid(changed);
  return {
    kind: 'CHANGE',
    before: order,
    after: changed,
    refund,
    entry: updateEntry(order, 'REFUND', moves, context, { providerId: providerRefundId }),
    // Nothing gives it back by itself any more: somebody has to.
    ...(state === 'FAILED' ? { alerts: ['SurplusPayment'] } : {}),
    ...(isBeyond ? { alerts: ['RefundBeyondRefundable'] } : {}),
  };
}

interface Effect {
  readonly moves: readonly Posting[];
  readonly refunded: Overpayment['refunded'];
  readonly cause?: TransitionCause;
}

function effectOf(
  order: Order,
  { refunded }: Overpayment,
  before: Refund['state'] | undefined,
  { amount, state }: Refund,
): Effect {
  const posting = overpaymentReturn(order, amount);
  switch (state) {
    case 'PENDING':
      return { moves: [], refunded };
    case 'SUCCEEDED':
      return { moves: [posting], refunded: add(refunded, amount), cause: 'REFUND_SUCCEEDED' };
    case 'FAILED':
      return before === 'SUCCEEDED'
        ? { moves: reversed([posting]), refunded: subtract(refunded, amount), cause: 'REFUND_FAILED' }
        : { moves: [], refunded, cause: 'REFUND_FAILED' };
  }
}
