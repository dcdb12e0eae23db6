import { type Finding, amountFinding } from './audit-finding.ts';
import { type Entry, type EntryOperation, ledgerAccount } from '../model/entries/entry.ts';
import { type Decimal, ZERO, add, negate, subtract } from '../kernel/money.ts';
import { isPaid } from '../model/orders/order-states.ts';
import { type Order, type Refund, overpaymentOf } from '../model/orders/order.ts';
import { judgeDisputes, judgeOverpayments } from './audit-disputes.ts';
import { isOut, judgeRefunds, sumIn } from './audit-refunds.ts';
import { judgeRewards } from './audit-rewards.ts';
import { itemOf } from './known-recordings.ts';
import { isGoal, moved } from './order-movements.ts';

/**
 * I4 for one order: what was refunded is what its refunds and its entries say, never more than was paid; it was paid
 * once, by the payment it names, if it is paid, and not at all if it isn't; each refund, dispute and overpayment was
 * booked once, and what it earned as well; what it owes is what was booked to its account's receivable.
 * @param entries those that name the order
 * @param refunds all of the order
 */
export function judgeOrder(
  order: Order,
  entries: readonly Entry[],
  refunds: readonly Refund[],
): readonly Finding[] {
  const item = itemOf(order);
  const own = refunds.filter((refund) => overpaymentOf(order, refund) === undefined);
  const succeeded = sumIn('SUCCEEDED', own);
  const checks: readonly (readonly [what: string, expected: Decimal, found: Decimal])[] = [
    ['refunded', succeeded, order.refunded],
    ['refundPending', sumIn('PENDING', own), order.refundPending],
    ['refundable', refundable(order), order.refundable],
    ['paid by entries', isPaid(order.state) ? order.amount : ZERO, paidByEntries(order, entries)],
    ['refunded by entries', outByRefunds(order, own), refundedByEntries(order, entries)],
    ['owed', receivable(order, entries), order.receivable],
  ];
  const findings = checks.flatMap(
    ([what, expected, found]) => amountFinding('I4', item, what, expected, found) ?? [],
  );
  return [
    ...findings,
    ...paidOnce(order, item, entries),
    ...withinPaid(order, item, own),
    ...closedInFull(order, item),
    ...judgeRewards(order, succeeded, entries),
    ...judgeRefunds(order, entries, refunds),
    ...judgeDisputes(order, entries),
    ...judgeOverpayments(order, entries),
  ];
}

type MendedSum =
  'refunded' | 'refundPending' | 'refundable' | 'receivable' | 'refundCount' | 'pendingRefundCount';

/** What an order counts, as its refunds and entries say. */
export function mendedSums(
  order: Order,
  entries: readonly Entry[],
  refunds: readonly Refund[],
): Pick<Order, MendedSum> {
  const own = refunds.filter((refund) => overpaymentOf(order, refund) === undefined);
  const [refunded, refundPending] = [sumIn('SUCCEEDED', own), sumIn('PENDING', own)];
  return {
    refunded,
    refundPending,
    refundable: refundable({ ...order, refunded, refundPending }),
    receivable: receivable(order, entries),
    refundCount: own.length,
    pendingRefundCount: own.filter(({ state }) => state === 'PENDING').length,
  };
}

function sum(refunds: readonly Refund[]): Decimal {
  return add(...refunds.map((refund) => refund.amount));
}

function refundable(order: Order): Decimal {
  if (!isPaid(order.state)) return ZERO;
  return subtract(order.amount, add(order.refunded, order.refundPending));
}

/** Refunds that we were asked for stay within what was paid; what the provider reports as fact may go past it. */
function withinPaid(order: Order, item: string, refunds: readonly Refund[]): readonly Finding[] {
  const requested = sum(
    refunds.filter((refund) => refund.source === 'REQUESTED' && refund.state !== 'FAILED'),
  );
  const paid = isPaid(order.state) ? order.amount : ZERO;
  const finding = requested.gt(paid)
    ? amountFinding('I4', item, 'refunds requested', paid, requested)
    : undefined;
  return finding === undefined ? [] : [finding];
}

/** An order is REFUNDED while all of it is given back, and only then. */
function closedInFull({ state, amount, refunded }: Order, item: string): readonly Finding[] {
  const inFull = amount.gt(ZERO) && refunded.gte(amount);
  if (!isPaid(state) || inFull === (state === 'REFUNDED')) return [];
  const expected = inFull ? 'REFUNDED' : 'PAID or CONFIRMED';
  return [{ promise: 'I4', item, what: 'state', expected, found: state }];
}

function paymentOperation(order: Order): EntryOperation {
  if (order.kind === 'TOP_UP') return 'TOP_UP';
  return order.payment?.method === 'WALLET' ? 'CHARGE' : 'PAYMENT';
}

const PAYMENT_OPERATIONS: readonly EntryOperation[] = ['CHARGE', 'TOP_UP', 'PAYMENT'];

/** One entry of the right kind, of the payment that the order names, paid a paid order; one of nothing needs none. */
function paidOnce(order: Order, item: string, entries: readonly Entry[]): readonly Finding[] {
  const named = (operation: string, paymentId = ''): string => `${operation} ${paymentId}`.trim();
  const isNeeded = isPaid(order.state) && order.amount.gt(ZERO);
  const expected = isNeeded ? named(paymentOperation(order), order.payment?.paymentId) : '';
  const payments = entries.filter(({ operation }) => PAYMENT_OPERATIONS.includes(operation));
  const found = payments.map(({ operation, providerId }) => named(operation, providerId)).join(', ');
  if (found === expected) return [];
  const printed = (text: string): string => (text === '' ? 'none' : text);
  return [
    { promise: 'I4', item, what: 'payment entries', expected: printed(expected), found: printed(found) },
  ];
}

function paidByEntries(order: Order, entries: readonly Entry[]): Decimal {
  return moved(order, entries, PAYMENT_OPERATIONS, isGoal(order));
}

function refundedByEntries(order: Order, entries: readonly Entry[]): Decimal {
  return negate(moved(order, entries, ['REFUND'], isGoal(order)));
}

function outByRefunds(order: Order, refunds: readonly Refund[]): Decimal {
  return sum(refunds.filter((refund) => isOut(order, refund)));
}

/** What was booked to receivable for a top-up. A purchase owes nothing: spent points are the account's debt, not its. */
function receivable(order: Order, entries: readonly Entry[]): Decimal {
  if (order.kind === 'PURCHASE') return ZERO;
  const account = ledgerAccount.receivable(order.accountId);
  const operations: readonly EntryOperation[] = ['TOP_UP', 'REFUND', 'DISPUTE'];
  return negate(moved(order, entries, operations, (name) => name === account));
}
