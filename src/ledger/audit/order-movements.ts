import { type Entry, type EntryOperation, ledgerAccount } from '../entry.ts';
import { type Decimal, add } from '../money.ts';
import type { Order } from '../orders/order.ts';
import { sumPostings } from './posted-sums.ts';

/** What entries of the given operations moved into accounts with this prefix, in the unit that the order counts in. */
export function moved(
  order: Order,
  entries: readonly Entry[],
  operations: readonly EntryOperation[],
  isAccount: (name: string) => boolean,
): Decimal {
  const unit = order.kind === 'TOP_UP' ? order.asset : (order.payment?.asset ?? order.currency);
  const chosen = entries.filter((entry) => operations.includes(entry.operation));
  const sums = [...sumPostings(chosen).values()].filter(
    ({ name, asset }) => asset === unit && isAccount(name),
  );
  return add(...sums.map((one) => one.sum));
}

/** Where an order's payment leads to, and its refunds come from: the merchant; of a top-up, what the customer has. */
export function isGoal(order: Order): (name: string) => boolean {
  if (order.kind === 'PURCHASE') return (name) => name === ledgerAccount.merchant(order.merchantId ?? '');
  const own = [ledgerAccount.wallet(order.accountId), ledgerAccount.receivable(order.accountId)];
  return (name) => own.includes(name);
}
