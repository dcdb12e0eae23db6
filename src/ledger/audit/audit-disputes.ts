import { type Finding, amountFinding } from './audit-finding.ts';
import {
  type KnownRecording,
  recordedOnce,
  itemOf,
  countedOnce,
  outOf,
  partitioned,
} from './known-recordings.ts';
import { isGoal, moved } from './order-movements.ts';
import { type Entry, ledgerAccount, netChanges } from '../model/entries/entry.ts';
import { ZERO, negate } from '../kernel/money.ts';
import type { Dispute, Order, Overpayment } from '../model/orders/order.ts';
import { returnedOf } from '../model/orders/returned.ts';

/**
 * Dispute by dispute: while its loss stands its entries come to its amount once, else to nothing, as where it was won
 * after it had been lost. So do those of each overpayment, which is booked as it arrives. No entry is of a dispute or
 * an overpayment that the order doesn't know.
 * @param entries those that name the order
 */
export function judgeDisputes(order: Order, entries: readonly Entry[]): readonly Finding[] {
  const overpaymentAccount = ledgerAccount.overpayment(order.orderId);
  const disputes = entries.filter(({ operation }) => operation === 'DISPUTE');
  const [ofOwn, ofOthers] = partitioned(
    disputes,
    (entry) => netChanges(entry, overpaymentAccount).length === 0,
  );
  const [own, others] = partitioned(order.disputes, ({ ofOverpayment }) => !ofOverpayment);
  return [
    ...countedOnce(order, 'dispute', order.disputes.map(known)),
    ...order.disputes.flatMap((dispute) => contradiction(order, dispute)),
    ...recordedOnce(order, 'dispute', own.map(known), ofOwn, (some) =>
      negate(moved(order, some, ['DISPUTE'], isGoal(order))),
    ),
    ...recordedOnce(order, 'dispute', others.map(known), ofOthers, (some) =>
      outOf(overpaymentAccount, order.currency, some),
    ),
  ];
}

/** Each overpayment is booked as it arrives, once, and no more of it went back. */
export function judgeOverpayments(order: Order, entries: readonly Entry[]): readonly Finding[] {
  const payments = order.overpayments.map(({ paymentId, amount }) => ({ id: paymentId, recorded: amount }));
  const arrivals = entries.filter(({ operation }) => operation === 'SURPLUS');
  return [
    ...countedOnce(order, 'surplus payment', payments),
    ...recordedOnce(order, 'surplus payment', payments, arrivals, (some) =>
      negate(outOf(ledgerAccount.overpayment(order.orderId), order.currency, some)),
    ),
    ...order.overpayments.flatMap((one) => returnedBeyond(order, one)),
  ];
}

/** Booked, since it happened, and for a person to settle: the money is gone, and nobody owes it. */
function returnedBeyond(order: Order, overpayment: Overpayment): readonly Finding[] {
  const returned = returnedOf(order, overpayment);
  if (returned.lte(overpayment.amount)) return [];
  const what = `surplus payment ${overpayment.paymentId}, given back at most`;
  return [amountFinding('I4', itemOf(order), what, overpayment.amount, returned)].filter(
    (finding) => finding !== undefined,
  );
}

function known({ disputeId, recorded, amount }: Dispute): KnownRecording {
  return { id: disputeId, recorded: recorded ? amount : ZERO };
}

/** A loss is booked with the dispute that tells of it, and taken back with it. One that is open again may still be. */
function contradiction(order: Order, { disputeId, status, recorded }: Dispute): readonly Finding[] {
  const isLost = status === 'lost';
  const isOver = status === 'won' || status === 'cleared';
  if (recorded ? !isOver : !isLost) return [];
  const named = (is: boolean): string => (is ? 'booked' : 'not booked');
  const what = `dispute ${disputeId}`;
  return [{ promise: 'I4', item: itemOf(order), what, expected: named(!recorded), found: named(recorded) }];
}
