import { type Entry, type EntryOperation, ledgerAccount } from '../model/entries/entry.ts';
import { type Decimal, add } from '../kernel/money.ts';
import type { Order } from '../model/orders/order.ts';
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
 * back there (docs/DESIGN.md §4, §8); a charge from a wallet also earns; an adjustment sets what is counted right, from
 * the issuer, as the opening entry of a record that has moved does.
 * @param order absent: of an adjustment
 */
export function movesBetween(
  accountId: string,
  order: Order | undefined,
): (debit: string, credit: string) => boolean {
  const routes = order === undefined ? issuerRoutes(accountId) : orderRoutes(order);
  return (debit, credit) =>
    routes.some(([one, other]) => (debit === one && credit === other) || (debit === other && credit === one));
}

type Route = readonly [string, string];

function issuerRoutes(accountId: string): readonly Route[] {
  const { issuer, wallet, metrics } = ledgerAccount;
  return [
    [issuer, wallet(accountId)],
    [issuer, metrics(accountId)],
  ];
}

function orderRoutes(order: Order): readonly Route[] {
  const { kind, accountId, orderId, merchantId = '', payment } = order;
  const { issuer, stripe, merchant, wallet, receivable, overpayment } = ledgerAccount;
  const goals = kind === 'PURCHASE' ? [merchant(merchantId)] : [wallet(accountId), receivable(accountId)];
  const source = sourceOf(order);
  // Spent points are owed to whoever gave them.
  const rewards: readonly Route[] = [...issuerRoutes(accountId), [issuer, receivable(accountId)]];
  return [
    ...(source === undefined ? [] : goals.map((goal): Route => [source, goal])),
    [stripe, overpayment(orderId)],
    ...(payment?.method === 'WALLET' ? rewards : []),
  ];
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
