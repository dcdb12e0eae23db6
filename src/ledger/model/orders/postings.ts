import { type Entry, type Posting, ledgerAccount, netChanges, type BalanceGuard } from '../entries/entry.ts';
import { type Decimal, ZERO, add, negate, smaller, subtract } from '../../kernel/money.ts';
import type { Order, Refund } from './order.ts';

/** Where the money of an order's payment sits outside the wallet, and in which unit it is counted there. */
interface Counterpart {
  readonly account: string;
  readonly unit: string;
}

/** The seller of a purchase. Throws RangeError for a top-up, which has none: asking is a bug. */
function seller(order: Order): string {
  if (order.merchantId === undefined) throw new RangeError('a top-up has no merchant');
  return ledgerAccount.merchant(order.merchantId);
}

/** What a top-up credits. Throws RangeError for a purchase: asking is a bug. */
export function toppedUpAsset(order: Order): string {
  if (order.asset === undefined) throw new RangeError('a purchase tops nothing up');
  return order.asset;
}

/** A wallet charge: the wallet pays the merchant, in the wallet's asset. */
export function chargePosting(order: Order, asset: string): Posting {
  return { debit: ledgerAccount.wallet(order.accountId), credit: seller(order), asset, amount: order.amount };
}

/** Money that came in for an order from outside: it goes to the merchant in the order's currency, or into the wallet. */
export function paymentPosting(order: Order, from: string): Posting {
  const to = goal(order);
  return { debit: from, credit: to.account, asset: to.unit, amount: order.amount };
}

function goal(order: Order): Counterpart {
  if (order.kind === 'PURCHASE') return { account: seller(order), unit: order.currency };
  return { account: ledgerAccount.wallet(order.accountId), unit: toppedUpAsset(order) };
}

/** A wallet refund: the merchant gives back, in the asset that paid. */
export function walletRefundPosting(order: Order, amount: Decimal): Posting {
  const asset = order.payment?.asset;
  if (asset === undefined) throw new RangeError('no wallet paid this order');
  return { debit: seller(order), credit: ledgerAccount.wallet(order.accountId), asset, amount };
}

/** A purchase's money goes back out through the provider. */
export function providerRefundPosting(order: Order, amount: Decimal): Posting {
  return { debit: seller(order), credit: ledgerAccount.stripe, asset: order.currency, amount };
}

/** What is booked to take value out of a wallet as a fact, and what must still hold when it commits. */
export interface WalletDebit {
  readonly postings: readonly Posting[];
  readonly guards: Readonly<Record<string, BalanceGuard>>;
  /** What the wallet lacked: booked to `receivable:{account}`, and to the order's `owed`. */
  readonly shortfall: Decimal;
}

/**
 * Takes value out of a wallet although it may be spent: what is there from the wallet, the rest from
 * `receivable:{account}` (docs/DESIGN.md §8, "Facts are booked unconditionally").
 * @param balance as read; if less than the amount is taken, or nothing, the guard holds it to exactly that
 */
export function debitWalletOrReceivable(
  accountId: string,
  asset: string,
  amount: Decimal,
  balance: Decimal,
  to: string,
): WalletDebit {
  const taken = smaller(balance, amount);
  const shortfall = subtract(amount, taken);
  return {
    postings: [
      { debit: ledgerAccount.wallet(accountId), credit: to, asset, amount: taken },
      { debit: ledgerAccount.receivable(accountId), credit: to, asset, amount: shortfall },
    ].filter((posting) => posting.amount.gt(ZERO)),
    guards: shortfall.gt(ZERO) ? { [asset]: { kind: 'EXACTLY', read: balance } } : {},
    shortfall,
  };
}

/** Value that comes back to a wallet, and what the order owes after it. */
export interface WalletCredit {
  readonly postings: readonly Posting[];
  readonly receivable: Decimal;
}

/**
 * Puts value back for an order: what it owes first, only the rest reaches the wallet.
 * @param most of it that pays what is owed
 */
export function creditReceivableThenWallet(
  order: Order,
  asset: string,
  amount: Decimal,
  from: string,
  most: Decimal = amount,
): WalletCredit {
  const toReceivable = smaller(order.receivable, most);
  return {
    postings: [
      { debit: from, credit: ledgerAccount.receivable(order.accountId), asset, amount: toReceivable },
      {
        debit: from,
        credit: ledgerAccount.wallet(order.accountId),
        asset,
        amount: subtract(amount, toReceivable),
      },
    ].filter((posting) => posting.amount.gt(ZERO)),
    receivable: subtract(order.receivable, toReceivable),
  };
}

/**
 * Puts back what a refund of a top-up took that failed. One that we were asked for gives back its own posting, and pays no
 * debt: nothing came in. One that the provider alone made is a fact like any other.
 * @param shortfall what its wallet lacked when it was taken
 */
export function putBackRefund(
  order: Order,
  { source, amount }: Pick<Refund, 'source' | 'amount'>,
  shortfall: Decimal,
): WalletCredit {
  const most = source === 'REQUESTED' ? shortfall : amount;
  return creditReceivableThenWallet(order, toppedUpAsset(order), amount, ledgerAccount.stripe, most);
}

/** What of the entries of a top-up's refund is owed for it, since its wallet lacked that. */
export function shortfallOf({ accountId, asset }: Order, entries: readonly Entry[]): Decimal {
  const nets = entries.flatMap((entry) => netChanges(entry, ledgerAccount.receivable(accountId)));
  return negate(add(...nets.filter((net) => net.asset === asset).map(({ net }) => net)));
}
