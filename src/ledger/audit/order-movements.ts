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

/**
 * Whether a posting may be between two accounts, whichever way: an order's money comes from where it was paid, and goes
 * back there (docs/DESIGN.md §4, §8); a charge from a wallet also earns; an adjustment is between wallet and issuer.
 * @param order absent: of an adjustment
 */
export function movesBetween(
  accountId: string,
  order: Order | undefined,
): (debit: string, credit: string) => boolean {
  const { issuer, stripe } = ledgerAccount;
  const wallet = ledgerAccount.wallet(accountId);
  const routes: (readonly [string, string])[] = [];
  if (order === undefined) routes.push([issuer, wallet]);
  else {
    const { kind, orderId, merchantId = '', payment } = order;
    const receivable = ledgerAccount.receivable(accountId);
    const source = sourceOf(order);
    const goals = kind === 'PURCHASE' ? [ledgerAccount.merchant(merchantId)] : [wallet, receivable];
    if (source !== undefined) routes.push(...goals.map((goal) => [source, goal] as const));
    routes.push([stripe, ledgerAccount.surplus(orderId)]);
    if (payment?.method === 'WALLET')
      routes.push([issuer, wallet], [issuer, receivable], [issuer, ledgerAccount.metrics(accountId)]);
  }
  return (debit, credit) =>
    routes.some(([one, other]) => (debit === one && credit === other) || (debit === other && credit === one));
}

/** Where an order's money came from; undefined where it says nothing of that. */
function sourceOf({ accountId, payment }: Order): string | undefined {
  switch (payment?.method) {
    case 'WALLET':
      return ledgerAccount.wallet(accountId);
    case 'CHECKOUT':
      return ledgerAccount.stripe;
    case 'CASH':
      return ledgerAccount.cash(payment.terminalId ?? '');
    case undefined:
      return undefined;
  }
}
