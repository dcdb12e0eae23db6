import { type Decimal, ZERO, add, subtract } from '../../kernel/money.ts';
import { isFull } from '../orders/order-size.ts';
import type { Order, Refund, OverflowTotals, OverpaymentRefund } from '../orders/order.ts';
import { type UpdateDecision, PROVIDER_ACTOR } from './update-decision.ts';
import { type RefundDetails, knownRefund } from './refunds.ts';

/*
 * At the provider a payment can be refunded any number of times, in ever smaller parts, and each has to be booked once. A
 * full order doesn't list what is new to it: such a refund has an item of its own, by the provider's id, which is written
 * in the transaction that writes the order. So `rev`, which every write of the order conditions on, guards both.
 */

const NO_OVERFLOW: OverflowTotals = { count: 0, succeeded: ZERO, pending: ZERO };

/**
 * Decides on a refund of the order's own payment as if the order listed its overflow refund, and takes that out of the order
 * again: an overflow refund stays one, and a full order lists no new refund.
 * @param kept this very refund, where it is an overflow refund
 */
export function decideWithOverflow(
  order: Order,
  details: RefundDetails,
  kept: Refund | undefined,
  decide: (order: Order) => UpdateDecision,
): UpdateDecision {
  if (kept === undefined && !(isFull(order) && knownRefund(order, details) === undefined))
    return decide(order);
  const decision = decide(kept === undefined ? order : takenBack(order, kept));
  if (decision.kind !== 'CHANGE') return decision;
  const reported = decision.after.refunds.find(
    (refund) => refund.providerRefundId === details.providerRefundId,
  );
  if (reported === undefined) throw new RangeError('a refund that was told of is in its order');
  return { ...decision, before: order, after: movedToOverflow(decision.after, reported), overflow: reported };
}

/** A refund of an overpayment as its item keeps it: its payment has the sum, so that it is only counted. */
export function overpaymentOverflowRefund(
  paymentId: string,
  refund: OverpaymentRefund,
  atMs: number,
): Refund {
  return {
    ...refund,
    refundId: refund.providerRefundId,
    paymentId,
    source: 'DASHBOARD',
    actor: PROVIDER_ACTOR,
    createdAtMs: atMs,
    tries: 0,
  };
}

export function countedOverflow({ overflow = NO_OVERFLOW }: Order): OverflowTotals {
  return { ...overflow, count: overflow.count + 1 };
}

function takenBack(order: Order, refund: Refund): Order {
  const { count, succeeded, pending } = order.overflow ?? NO_OVERFLOW;
  return {
    ...order,
    refunds: [...order.refunds, refund],
    overflow: {
      count: count - 1,
      succeeded: subtract(succeeded, amountIf(refund, 'SUCCEEDED')),
      pending: subtract(pending, amountIf(refund, 'PENDING')),
    },
  };
}

function movedToOverflow(order: Order, refund: Refund): Order {
  const { count, succeeded, pending } = order.overflow ?? NO_OVERFLOW;
  return {
    ...order,
    refunds: order.refunds.filter((other) => other !== refund),
    overflow: {
      count: count + 1,
      succeeded: add(succeeded, amountIf(refund, 'SUCCEEDED')),
      pending: add(pending, amountIf(refund, 'PENDING')),
    },
  };
}

function amountIf({ state, amount }: Refund, wanted: Refund['state']): Decimal {
  return state === wanted ? amount : ZERO;
}
