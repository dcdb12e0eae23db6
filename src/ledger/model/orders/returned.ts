import { type Decimal, ZERO, add } from '../../kernel/money.ts';
import type { Order, Overpayment } from './order.ts';

/** What of an overpayment went back: refunds that succeeded, and disputes whose loss stands. */
export function returnedOf({ disputes }: Order, { paymentId, refunded }: Overpayment): Decimal {
  const losses = disputes.filter((one) => one.recorded && one.ofOverpayment && one.paymentId === paymentId);
  return losses.reduce((sum, { amount }) => add(sum, amount), refunded);
}

/** Whether more went back of some payment than had come in: the provider took it from us, and nobody owes it. */
export function isReturnedBeyondPaid(order: Order): boolean {
  const losses = order.disputes.filter((one) => one.recorded && !one.ofOverpayment);
  const returned = add(
    order.refunded,
    losses.reduce((sum, { amount }) => add(sum, amount), ZERO),
  );
  return returned.gt(order.amount) || order.overpayments.some((one) => returnedOf(order, one).gt(one.amount));
}
