import { type Finding, amountFinding } from './audit-finding.ts';
import {
  type KnownRecording,
  recordedOnce,
  itemOf,
  countedOnce,
  outOf,
  partitioned,
} from './known-recordings.ts';
import { type Entry, ledgerAccount, netChanges } from '../model/entries/entry.ts';
import { isUlid } from '../kernel/id-grammar.ts';
import { type Decimal, ZERO, add, negate } from '../kernel/money.ts';
import { type Order, type Refund, type RefundCounts, overpaymentOf } from '../model/orders/order.ts';
import { shortfallOf } from '../model/orders/postings.ts';
import { isGoal, moved } from './order-movements.ts';

/**
 * I4, refund by refund: the entries of each come to its amount once, or to nothing if none of its money is out; no entry
 * is of a refund that isn't there, and no refund is kept twice, by our id or by the provider's; one that never happened
 * pays no debt. What the order counts of
 * them, for itself and for each overpayment, is what there is, and what is claimed is PENDING.
 * @param entries those that name the order
 * @param refunds all of the order
 */
export function judgeRefunds(
  order: Order,
  entries: readonly Entry[],
  refunds: readonly Refund[],
): readonly Finding[] {
  const [own, others] = partitioned(refunds, (refund) => overpaymentOf(order, refund) === undefined);
  const overpaymentAccount = ledgerAccount.overpayment(order.orderId);
  const [ofOwn, ofOthers] = partitioned(
    entries.filter(({ operation }) => operation === 'REFUND'),
    (entry) => netChanges(entry, overpaymentAccount).length === 0,
  );
  const ownRefunds = own.map((refund) => knownOf(refund, isOut(order, refund)));
  const overpaymentRefunds = others.map((refund) => knownOf(refund, refund.state === 'SUCCEEDED'));
  return [
    ...countedOnce(order, 'refund', [...ownRefunds, ...overpaymentRefunds]),
    ...recordedOnce(order, 'refund', ownRefunds, ofOwn, (some) =>
      negate(moved(order, some, ['REFUND'], isGoal(order))),
    ),
    ...recordedOnce(order, 'refund', overpaymentRefunds, ofOthers, (some) =>
      outOf(overpaymentAccount, order.currency, some),
    ),
    ...debtsPaid(order, ofOwn),
    ...countsOff(order, 'refunds', order, own),
    ...claimsOff(order, own),
    ...order.overpayments.flatMap((overpayment) => {
      const its = others.filter(({ paymentId }) => paymentId === overpayment.paymentId);
      const what = `surplus ${overpayment.paymentId} refunded`;
      const sum = amountFinding('I4', itemOf(order), what, sumIn('SUCCEEDED', its), overpayment.refunded);
      return [...(sum === undefined ? [] : [sum]), ...countsOff(order, `${what} times`, overpayment, its)];
    }),
  ];
}

function knownOf({ refundId, providerRefundId, amount }: Refund, isRecorded: boolean): KnownRecording {
  return { id: refundId, providerId: providerRefundId, recorded: isRecorded ? amount : ZERO };
}

/** A top-up's value is taken out of the wallet before the money goes back, so a pending refund may have its entry. */
export function isOut({ kind }: Order, { state, entryId }: Refund): boolean {
  return state === 'SUCCEEDED' || (state === 'PENDING' && kind === 'TOP_UP' && entryId !== undefined);
}

/** What refunds in a state come to. */
export function sumIn(state: Refund['state'], refunds: readonly Refund[]): Decimal {
  return add(...refunds.filter((refund) => refund.state === state).map(({ amount }) => amount));
}

/**
 * A refund that we were asked for and that failed puts back what it took, and no more of what is owed than it took from
 * there: nothing came in that could pay a debt.
 */
function debtsPaid(order: Order, entries: readonly Entry[]): readonly Finding[] {
  if (order.kind === 'PURCHASE') return [];
  const ids = new Set(entries.flatMap(({ refundId }) => refundId ?? []).filter(isUlid));
  return [...ids].flatMap((id) => {
    const its = entries.filter(({ refundId }) => refundId === id);
    const paid = negate(shortfallOf(order, its));
    const finding = amountFinding('I4', itemOf(order), `refund ${id} debt paid`, ZERO, paid);
    return finding === undefined || paid.isNegative() ? [] : [finding];
  });
}

function countsOff(
  order: Order,
  what: string,
  { refundCount, pendingRefundCount }: RefundCounts,
  refunds: readonly Refund[],
): readonly Finding[] {
  const pending = refunds.filter(({ state }) => state === 'PENDING');
  return [
    ...countOff(order, what, refunds.length, refundCount),
    ...countOff(order, `${what} pending`, pending.length, pendingRefundCount),
  ];
}

function countOff(order: Order, what: string, expected: number, found: number): readonly Finding[] {
  if (expected === found) return [];
  return [{ promise: 'I4', item: itemOf(order), what, expected: String(expected), found: String(found) }];
}

/** Whoever asks the provider for a refund holds one that is still to be made. */
function claimsOff(order: Order, refunds: readonly Refund[]): readonly Finding[] {
  return order.refundClaims.flatMap(({ refundId }) => {
    const state = refunds.find((refund) => refund.refundId === refundId)?.state ?? 'none';
    const what = `claimed refund ${refundId}`;
    if (state === 'PENDING') return [];
    return [{ promise: 'I4' as const, item: itemOf(order), what, expected: 'PENDING', found: state }];
  });
}
