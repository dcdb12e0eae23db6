import type { Finding } from './audit-finding.ts';
import { type KnownBooking, bookedOnce, itemOf, keptOnce, outOf, partitioned } from './known-bookings.ts';
import { isGoal, moved } from './order-movements.ts';
import { type Entry, ledgerAccount, netChanges } from '../entry.ts';
import { ZERO, negate } from '../money.ts';
import type { Dispute, Order } from '../orders/order.ts';

/**
 * Dispute by dispute: while its loss stands its entries come to its amount once, else to nothing, as where it was won
 * after it had been lost. So do those of each surplus payment, which is booked as it arrives. No entry is of a dispute or
 * a surplus payment that the order doesn't know.
 * @param entries those that name the order
 */
export function judgeDisputes(order: Order, entries: readonly Entry[]): readonly Finding[] {
  const surplusAccount = ledgerAccount.surplus(order.orderId);
  const disputes = entries.filter(({ operation }) => operation === 'DISPUTE');
  const [ofOwn, ofSurplus] = partitioned(disputes, (entry) => netChanges(entry, surplusAccount).length === 0);
  const [own, others] = partitioned(order.disputes, ({ surplus }) => !surplus);
  return [
    ...keptOnce(order, 'dispute', order.disputes.map(known)),
    ...order.disputes.flatMap((dispute) => contradiction(order, dispute)),
    ...bookedOnce(order, 'dispute', own.map(known), ofOwn, (some) =>
      negate(moved(order, some, ['DISPUTE'], isGoal(order))),
    ),
    ...bookedOnce(order, 'dispute', others.map(known), ofSurplus, (some) =>
      outOf(surplusAccount, order.currency, some),
    ),
  ];
}

/** Each surplus payment is booked as it arrives, once. */
export function judgeSurplus(order: Order, entries: readonly Entry[]): readonly Finding[] {
  const payments = order.surplus.map(({ paymentId, amount }) => ({ id: paymentId, booked: amount }));
  const arrivals = entries.filter(({ operation }) => operation === 'SURPLUS');
  return [
    ...keptOnce(order, 'surplus payment', payments),
    ...bookedOnce(order, 'surplus payment', payments, arrivals, (some) =>
      negate(outOf(ledgerAccount.surplus(order.orderId), order.currency, some)),
    ),
  ];
}

function known({ disputeId, booked, amount }: Dispute): KnownBooking {
  return { id: disputeId, booked: booked ? amount : ZERO };
}

/** A loss is booked with the dispute that tells of it, and taken back with it. One that is open again may still be. */
function contradiction(order: Order, { disputeId, status, booked }: Dispute): readonly Finding[] {
  const isLost = status === 'lost';
  const isOver = status === 'won' || status === 'cleared';
  if (booked ? !isOver : !isLost) return [];
  const named = (is: boolean): string => (is ? 'booked' : 'not booked');
  const what = `dispute ${disputeId}`;
  return [{ promise: 'I4', item: itemOf(order), what, expected: named(!booked), found: named(booked) }];
}
