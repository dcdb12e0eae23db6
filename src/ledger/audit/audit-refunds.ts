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
import { type Decimal, ZERO, add, negate } from '../kernel/money.ts';
import type { Order, Refund, Overpayment } from '../model/orders/order.ts';
import { isGoal, moved } from './order-movements.ts';

/**
 * I4, refund by refund: the entries of each come to its amount once, or to nothing if none of its money is out; no entry
 * is of a refund that the order doesn't know, and no refund is kept twice, by our id or by the provider's. The order's sums
 * of overflow refunds, and of what is given back of each overpayment, are those of the refunds.
 * @param entries those that name the order
 * @param overflow its refunds that have items of their own. One that has moved nothing may be missing: it is found by the
 * scan alone, which can have passed its place before it was made. So of pending ones and of the count only too much is off
 */
export function judgeRefunds(
  order: Order,
  entries: readonly Entry[],
  overflow: readonly Refund[],
): readonly Finding[] {
  const ofOverpayment = new Set(order.overpayments.map(({ paymentId }) => paymentId));
  const [own, others] = partitioned(overflow, ({ paymentId }) => !ofOverpayment.has(paymentId ?? ''));
  const refunds = entries.filter(({ operation }) => operation === 'REFUND');
  const overpaymentAccount = ledgerAccount.overpayment(order.orderId);
  const [ofOwn, ofOthers] = partitioned(
    refunds,
    (entry) => netChanges(entry, overpaymentAccount).length === 0,
  );
  const ownRefunds = [...order.refunds, ...own].map((refund) => knownOf(order, refund));
  const overpaymentRefunds = [
    ...order.overpayments.flatMap((payment) => payment.refunds.map(overpaymentKnown)),
    ...others.map(overpaymentKnown),
  ];
  return [
    ...countedOnce(order, 'refund', [...ownRefunds, ...overpaymentRefunds]),
    ...recordedOnce(order, 'refund', ownRefunds, ofOwn, (some) =>
      negate(moved(order, some, ['REFUND'], isGoal(order))),
    ),
    ...recordedOnce(order, 'refund', overpaymentRefunds, ofOthers, (some) =>
      outOf(overpaymentAccount, order.currency, some),
    ),
    ...overflowSums(order, own, overflow.length),
    ...order.overpayments.flatMap((payment) => overpaymentSum(order, payment, others)),
  ];
}

function knownOf(order: Order, refund: Refund): KnownRecording {
  const { refundId, providerRefundId, amount } = refund;
  return { id: refundId, providerId: providerRefundId, recorded: isOut(order, refund) ? amount : ZERO };
}

/** A top-up's value is taken out of the wallet before the money goes back, so a pending refund may have its entry. */
export function isOut({ kind }: Order, { state, entryId }: Refund): boolean {
  return state === 'SUCCEEDED' || (state === 'PENDING' && kind === 'TOP_UP' && entryId !== undefined);
}

function overpaymentKnown({
  providerRefundId = '',
  state,
  amount,
}: Pick<Refund, 'providerRefundId' | 'state' | 'amount'>): KnownRecording {
  return { id: providerRefundId, recorded: state === 'SUCCEEDED' ? amount : ZERO };
}

function sumIn(state: Refund['state'], refunds: readonly Pick<Refund, 'state' | 'amount'>[]): Decimal {
  return add(...refunds.filter((refund) => refund.state === state).map(({ amount }) => amount));
}

function overflowSums(order: Order, own: readonly Refund[], count: number): readonly Finding[] {
  const kept = order.overflow ?? { count: 0, succeeded: ZERO, pending: ZERO };
  const item = itemOf(order);
  const succeeded = amountFinding('I4', item, 'aside', sumIn('SUCCEEDED', own), kept.succeeded);
  const pending = sumIn('PENDING', own);
  const pendingOff = pending.gt(kept.pending)
    ? amountFinding('I4', item, 'aside pending', pending, kept.pending)
    : undefined;
  const tooMany: Finding = {
    promise: 'I4',
    item,
    what: 'aside count',
    expected: `at least ${String(count)}`,
    found: String(kept.count),
  };
  return [
    ...(succeeded === undefined ? [] : [succeeded]),
    ...(pendingOff === undefined ? [] : [pendingOff]),
    ...(count > kept.count ? [tooMany] : []),
  ];
}

function overpaymentSum(
  order: Order,
  { paymentId, refunded, refunds }: Overpayment,
  overflow: readonly Refund[],
): readonly Finding[] {
  const all = [...refunds, ...overflow.filter((refund) => refund.paymentId === paymentId)];
  const what = `surplus ${paymentId} refunded`;
  const finding = amountFinding('I4', itemOf(order), what, sumIn('SUCCEEDED', all), refunded);
  return finding === undefined ? [] : [finding];
}
