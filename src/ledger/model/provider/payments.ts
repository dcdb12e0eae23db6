import { ledgerAccount } from '../entries/entry.ts';
import { ZERO } from '../../kernel/money.ts';
import { note, touch } from '../orders/order-changes.ts';
import { paymentPosting } from '../orders/postings.ts';
import { isPaid } from '../orders/order-states.ts';
import { type Attempt, type Order, overpaymentStepName } from '../orders/order.ts';
import { newSteps, payOrder } from '../orders/payments.ts';
import { withDetails } from './attempt-ownership.ts';
import {
  type OrderUpdate,
  type DecisionContext,
  updateEntry,
  transitionDetails,
  type RecordedPayment,
} from './update-decision.ts';

/** Money of the order's own that arrived, its amount judged already. */
export interface Arrival {
  readonly attempt: Attempt;
  /** The payment's id, or its session's where nothing was due: what books it once. */
  readonly paymentId: string;
  /** The ledger itself gave it back, or had booked it as an overpayment: it never was the order's own. */
  readonly isGivenBack?: boolean;
}

/**
 * The first own payment of an unpaid order pays it, from whatever state; any other is an overpayment: recorded apart, and
 * given back by a step (docs/DESIGN.md §7, §8). A payment that the order names already is recorded once: where its item is
 * lost, that alone is written anew.
 */
export function receivePayment(order: Order, arrival: Arrival, context: DecisionContext): OrderUpdate {
  const { paymentId } = arrival;
  if (order.payment?.paymentId === paymentId) return restoreRecorded(order, 'ORDER', arrival, context);
  if (order.overpayments.some((known) => known.paymentId === paymentId))
    return restoreRecorded(order, 'SURPLUS', arrival, context);
  return isPaid(order.state) || arrival.isGivenBack === true
    ? receiveOverpayment(order, arrival, context)
    : receiveFirst(order, arrival, context);
}

function receiveFirst(order: Order, { attempt, paymentId }: Arrival, context: DecisionContext): OrderUpdate {
  const details: Order = {
    ...order,
    attempts: withDetails(order, attempt, { paymentId, closed: true }),
    voucher: undefined,
  };
  const after = payOrder(
    details,
    'MONEY_ARRIVED',
    { method: 'CHECKOUT', atMs: context.atMs, paymentId },
    context.stepNames({ kind: 'paid' }, order),
    transitionDetails('PAYMENT_RECEIVED', context),
  );
  return {
    kind: 'CHANGE',
    before: order,
    after,
    recorded: recordedPaymentOf(order, 'ORDER', { attempt, paymentId }, context),
    entry: updateEntry(
      order,
      order.kind === 'TOP_UP' ? 'TOP_UP' : 'PAYMENT',
      [paymentPosting(order, ledgerAccount.stripe)],
      context,
      { providerId: paymentId },
    ),
  };
}

function receiveOverpayment(
  order: Order,
  { attempt, paymentId }: Arrival,
  context: DecisionContext,
): OrderUpdate {
  const after = note(order, transitionDetails('SURPLUS_RECEIVED', context, paymentId), {
    attempts: withDetails(order, attempt, { paymentId, closed: true }),
    overpayments: [
      ...order.overpayments,
      { paymentId, amount: order.amount, refunded: ZERO, refundCount: 0, pendingRefundCount: 0 },
    ],
    steps: [...order.steps, ...newSteps(order, [overpaymentStepName(paymentId)], context.atMs)],
  });
  const posting = {
    debit: ledgerAccount.stripe,
    credit: ledgerAccount.overpayment(order.orderId),
    asset: order.currency,
    amount: order.amount,
  };
  return {
    kind: 'CHANGE',
    before: order,
    after,
    recorded: recordedPaymentOf(order, 'SURPLUS', { attempt, paymentId }, context),
    entry: updateEntry(order, 'SURPLUS', [posting], context, { providerId: paymentId }),
    alerts: ['SurplusPayment'],
  };
}

/** The order's `rev` guards it: nothing can have been recorded for the payment in between. */
function restoreRecorded(
  order: Order,
  recordedAs: RecordedPayment['recordedAs'],
  arrival: Arrival,
  context: DecisionContext,
): OrderUpdate {
  return {
    kind: 'CHANGE',
    before: order,
    after: touch(order, context.atMs, {}),
    recorded: recordedPaymentOf(order, recordedAs, arrival, context),
    alerts: ['RecordedPaymentRestored'],
  };
}

function recordedPaymentOf(
  { tenant, accountId, orderId, currency, amount }: Order,
  recordedAs: RecordedPayment['recordedAs'],
  { attempt, paymentId }: Arrival,
  { atMs }: DecisionContext,
): RecordedPayment {
  return {
    tenant,
    accountId,
    orderId,
    paymentId,
    recordedAs,
    attempt: attempt.number,
    currency,
    amount,
    atMs,
  };
}
