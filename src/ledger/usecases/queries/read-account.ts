import type { Viewer } from '../../../auth/viewer.ts';
import type { Entry } from '../../model/entries/entry.ts';
import type { AccountRef, OrderRef } from '../../kernel/keys.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import type { EventRecord } from '../../items/event-item.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { MAX_PAGE_SIZE } from '../runtime/pages.ts';
import { readRefunds } from '../runtime/read-refunds.ts';
import { listEntries } from './read-entries.ts';
import { listOrders } from './read-order-lists.ts';
import { readOrders } from './read-orders.ts';
import { byAge } from './read-order-refunds.ts';
import { type Balance, assetsOf, readBalances } from './read-wallets.ts';
import { listWebhookProblems } from './read-webhook-events.ts';

/** An order and everything in the table that is about it. */
export interface WholeOrder {
  readonly order: Order;
  /** The oldest first. */
  readonly entries: readonly Entry[];
  /** The oldest first, those of overpayments included. */
  readonly refunds: readonly Refund[];
  readonly balances: readonly Balance[];
  /** Events about it that matched nothing or could not be applied; the others are found by their own id alone. */
  readonly problems: readonly EventRecord[];
}

/** What an account holds, and what it did last, the newest first. */
export interface WholeAccount {
  readonly balances: readonly Balance[];
  readonly orders: readonly Order[];
  readonly entries: readonly Entry[];
}

/** Clocks of processes differ: an entry may be named for an instant a little before its order's. */
const CLOCK_SKEW_MS = 3_600_000;
/** A tenant with more problems than this has other worries. */
const MAX_PROBLEM_PAGES = 10;
/** Of each kind of thing that an account did, so many are shown. */
export const LATEST = 20;

/** For operators alone: nobody asks who may see it. Undefined if there is no such order. Throws TableUnavailableError. */
export async function readWholeOrder(ledger: Ledger, ref: OrderRef): Promise<WholeOrder | undefined> {
  const viewer = operatorOf(ref);
  const [order] = await readOrders(ledger, viewer, [ref]);
  if (order === undefined) return undefined;
  const [refunds, entries, balances, problems] = await Promise.all([
    readRefunds(ledger, order),
    entriesOf(ledger, viewer, order),
    balancesOf(ledger, viewer, ref),
    problemsOf(ledger, viewer, ref),
  ]);
  return { order, refunds: byAge(refunds), entries, balances, problems };
}

/** For operators alone: nobody asks who may see it. Throws TableUnavailableError. */
export async function readWholeAccount(ledger: Ledger, ref: AccountRef): Promise<WholeAccount> {
  const viewer = operatorOf(ref);
  const [balances, orders, entries] = await Promise.all([
    balancesOf(ledger, viewer, ref),
    listOrders(ledger, viewer, { accountId: ref.accountId }, { first: LATEST }),
    listEntries(ledger, viewer, ref, undefined, { first: LATEST }),
  ]);
  return {
    balances,
    orders: orders?.rows.map(({ row }) => row) ?? [],
    entries: entries?.rows.map(({ row }) => row) ?? [],
  };
}

/** Who reads the table itself may see all of a tenant. */
function operatorOf({ tenant }: AccountRef): Viewer {
  return { tenant, subject: 'operator', role: 'ADMIN', expiresAtMs: Infinity };
}

async function balancesOf(ledger: Ledger, viewer: Viewer, ref: AccountRef): Promise<readonly Balance[]> {
  const { tenant, accountId } = ref;
  const refs = assetsOf(ledger, tenant).map((asset) => ({ tenant, accountId, asset }));
  const balances = await readBalances(ledger, viewer, refs);
  return balances.filter((balance) => balance !== undefined);
}

/** Reads the account's entries back to when the order was opened. */
async function entriesOf(ledger: Ledger, viewer: Viewer, order: Order): Promise<readonly Entry[]> {
  const sinceMs = order.createdAtMs - CLOCK_SKEW_MS;
  const found: Entry[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await listEntries(ledger, viewer, order, undefined, { first: MAX_PAGE_SIZE, after });
    const entries = page?.rows.map(({ row }) => row) ?? [];
    found.push(...entries.filter(({ orderId }) => orderId === order.orderId));
    const oldest = entries.at(-1);
    if (page?.hasNextPage !== true || oldest === undefined || oldest.atMs < sinceMs) return found.reverse();
    after = page.endCursor;
  }
}

async function problemsOf(ledger: Ledger, viewer: Viewer, ref: OrderRef): Promise<readonly EventRecord[]> {
  const found: EventRecord[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < MAX_PROBLEM_PAGES; pages += 1) {
    const page = await listWebhookProblems(ledger, viewer, { first: MAX_PAGE_SIZE, after });
    const events = page.rows.map(({ row }) => row);
    found.push(
      ...events.filter(({ order }) => order?.orderId === ref.orderId && order.accountId === ref.accountId),
    );
    if (!page.hasNextPage) break;
    after = page.endCursor;
  }
  return found;
}
