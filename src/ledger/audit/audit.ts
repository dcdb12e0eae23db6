import { type StoredItem, MalformedItemError, readDecimal, readString } from '../kernel/attributes.ts';
import { objectionToEntry } from './audit-entry.ts';
import { type AuditedPromise, type Finding, amountFinding } from './audit-finding.ts';
import { judgeOrder } from './audit-order.ts';
import { type Entry, METRIC, ledgerAccount, readEntry } from '../model/entries/entry.ts';
import { groupBy } from '../kernel/group-by.ts';
import { type AccountRef, PREFIX, assetOfBalanceType } from '../kernel/keys.ts';
import { type Decimal, ZERO, plainDecimal } from '../kernel/money.ts';
import { readOrder } from '../items/order-item.ts';
import { readMetadataItem } from '../items/order-metadata-item.ts';
import { readRefund } from '../items/refund-item.ts';
import type { Order, Refund } from '../model/orders/order.ts';
import { sumPostings } from './posted-sums.ts';

/** What is off, and in whose account. */
export interface AuditProblem extends AccountRef, Finding {}

/** All of one account that an audit looks at, read at one moment or while nothing of it moved. */
export interface AccountItems extends AccountRef {
  /** What a wallet or its metrics hold, by asset or metric. */
  readonly balances: ReadonlyMap<string, Decimal>;
  /** Assets whose balances a migration has yet to move: they stand in `balances` as what was posted to them. */
  readonly unmoved: ReadonlySet<string>;
  readonly entries: readonly Entry[];
  readonly orders: readonly Order[];
  /** Ids of the orders that have an item with metadata. */
  readonly described: readonly string[];
  readonly refunds: readonly Refund[];
  /** Items that this code could not have written. */
  readonly unreadable: readonly Finding[];
}

/**
 * Records that a migration has yet to move (src/migrations/): until then I2 isn't asked of the balances that they hold,
 * which began before there were entries.
 */
export interface UnmovedRecords {
  /** The sort key of the records. */
  readonly type: string;
  readonly assets: readonly string[];
  readonly isUnmoved: (item: StoredItem) => boolean;
}

/** Whether an audit looks at an item of an account: balances, metrics, entries, orders, refunds, and records yet to move. */
export function isAudited(type: string, unmoved?: UnmovedRecords): boolean {
  return (
    type === 'METRICS' ||
    type === unmoved?.type ||
    [PREFIX.balance, PREFIX.entry, PREFIX.order, PREFIX.refund, PREFIX.metadata].some((one) =>
      type.startsWith(one),
    )
  );
}

/** Reads an account's audited items. What can't be read is a finding of its own, and stops nothing. */
export function readAccount(
  { tenant, accountId }: AccountRef,
  items: readonly StoredItem[],
  unmoved?: UnmovedRecords,
): AccountItems {
  const balances = new Map<string, Decimal>();
  const entries: Entry[] = [];
  const orders: Order[] = [];
  const refunds: Refund[] = [];
  const described: string[] = [];
  const unreadable: Finding[] = [];
  for (const item of items) {
    const type = readString(item, 'type');
    try {
      if (type.startsWith(PREFIX.entry)) entries.push(readEntry(item));
      else if (type.startsWith(PREFIX.order)) orders.push(readOrder(item));
      else if (type.startsWith(PREFIX.metadata)) described.push(readMetadataItem(item).orderId);
      else if (type.startsWith(PREFIX.refund)) refunds.push(readRefund(item));
      else if (type === 'METRICS') {
        balances.set(METRIC.charged, readDecimal(item, 'charged_total'));
        balances.set(METRIC.co2Kg, readDecimal(item, 'co2_reduction_kg'));
      } else if (type.startsWith(PREFIX.balance))
        balances.set(assetOfBalanceType(type), readDecimal(item, 'balance'));
    } catch (error) {
      if (!(error instanceof MalformedItemError) && !(error instanceof RangeError)) throw error;
      const promise = promiseOf(type);
      unreadable.push({ promise, item: type, what: 'item', expected: 'readable', found: error.message });
    }
  }
  const isUnmoved = items.some(
    (item) => readString(item, 'type') === unmoved?.type && unmoved.isUnmoved(item),
  );
  const assets = new Set(isUnmoved ? unmoved?.assets : []);
  setToPosted(balances, accountId, entries, assets);
  return { tenant, accountId, balances, unmoved: assets, entries, orders, described, refunds, unreadable };
}

function promiseOf(type: string): AuditedPromise {
  if (type.startsWith(PREFIX.entry)) return 'I1';
  return [PREFIX.order, PREFIX.refund, PREFIX.metadata].some((one) => type.startsWith(one)) ? 'I4' : 'I2';
}

/** Takes balances as what was posted to them, so that sums come out even without them. */
function setToPosted(
  balances: Map<string, Decimal>,
  accountId: string,
  entries: readonly Entry[],
  assets: ReadonlySet<string>,
): void {
  const wallet = ledgerAccount.wallet(accountId);
  for (const { name, asset, sum } of sumPostings(entries).values()) {
    if (name === wallet && assets.has(asset)) balances.set(asset, sum);
  }
}

/** Everything that is off in an account; empty if its promises hold. */
export function judgeAccount(account: AccountItems): readonly AuditProblem[] {
  const { tenant, accountId, entries, orders, refunds, unreadable } = account;
  const byId = new Map(orders.map((order) => [order.orderId, order]));
  const findings = [
    ...unreadable,
    ...entries.flatMap((entry) => objectionToEntry(entry, byId.get(entry.orderId ?? '')) ?? []),
    ...judgeBalances(account),
    ...judgeOrders(entries, orders, refunds),
    ...judgeMetadata(account),
  ];
  return findings.map((finding) => ({ tenant, accountId, ...finding }));
}

/** I2: each balance is what its postings sum to, a wallet's is never negative, and no postings lack their balance. */
function judgeBalances(account: AccountItems): readonly Finding[] {
  const { accountId, balances, unmoved, entries } = account;
  const sums = sumPostings(entries);
  const own = [ledgerAccount.wallet(accountId), ledgerAccount.metrics(accountId)];
  const posted = new Map(
    [...sums.values()].filter(({ name }) => own.includes(name)).map(({ asset, sum }) => [asset, sum]),
  );
  const assets = new Set([...balances.keys(), ...posted.keys()]);
  return [...assets]
    .filter((asset) => !unmoved.has(asset))
    .flatMap((asset) => {
      const item = balanceItem(asset);
      const found = balances.get(asset) ?? ZERO;
      const expected = posted.get(asset) ?? ZERO;
      const what = item === 'METRICS' ? asset : 'balance';
      const off = amountFinding('I2', item, what, expected, found);
      const negative: Finding = {
        promise: 'I2',
        item,
        what,
        expected: 'never negative',
        found: plainDecimal(found),
        offBy: plainDecimal(found),
      };
      return [...(off === undefined ? [] : [off]), ...(found.lt(ZERO) ? [negative] : [])];
    });
}

function balanceItem(asset: string): string {
  const isMetric = asset === METRIC.charged || asset === METRIC.co2Kg;
  return isMetric ? 'METRICS' : `${PREFIX.balance}${asset.replace('/', '#')}`;
}

/** An order and its metadata were written together: neither is without the other. */
function judgeMetadata({ orders, described }: AccountItems): readonly Finding[] {
  const saying = orders.filter(({ hasMetadata }) => hasMetadata).map(({ orderId }) => orderId);
  const finding = (item: string, expected: string, found: string): Finding => ({
    promise: 'I4',
    item,
    what: 'metadata',
    expected,
    found,
  });
  return [
    ...saying
      .filter((orderId) => !described.includes(orderId))
      .map((orderId) => finding(`${PREFIX.order}${orderId}`, 'there', 'none')),
    ...described
      .filter((orderId) => !saying.includes(orderId))
      .map((orderId) => finding(`${PREFIX.metadata}${orderId}`, 'of an order that has some', 'none')),
  ];
}

/** I4 for each order, and no entry and no refund of an order that isn't there. */
function judgeOrders(
  entries: readonly Entry[],
  orders: readonly Order[],
  refunds: readonly Refund[],
): readonly Finding[] {
  const byOrder = groupBy(entries, (entry) => entry.orderId);
  const refundsOf = groupBy(refunds, (refund) => refund.orderId);
  const known = new Set(orders.map((order) => order.orderId));
  const stray = [
    ...entries.map(({ entryId, orderId }) => ({ item: `${PREFIX.entry}${entryId}`, orderId })),
    ...refunds.map(({ refundId, orderId }) => ({ item: `${PREFIX.refund}${orderId}#${refundId}`, orderId })),
  ];
  return [
    ...orders.flatMap((order) =>
      judgeOrder(order, byOrder.get(order.orderId) ?? [], refundsOf.get(order.orderId) ?? []),
    ),
    ...stray.flatMap(({ item, orderId }) =>
      orderId === undefined || known.has(orderId)
        ? []
        : [{ promise: 'I4' as const, item, what: 'order', expected: 'there', found: `no ORDER#${orderId}` }],
    ),
  ];
}
