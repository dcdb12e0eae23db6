import { recordMissingEntry } from '../../items/entry-writes.ts';
import { orderAttributes } from '../../items/order-item.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { putRefund } from '../../items/refund-item.ts';
import { plan } from '../../items/plan.ts';
import { type StoredItem, readString, toAttributes } from '../../kernel/attributes.ts';
import { defined } from '../../kernel/defined.ts';
import { isId, isTenantId } from '../../kernel/id-grammar.ts';
import { type AccountRef, type OrderRef, PREFIX } from '../../kernel/keys.ts';
import { ZERO } from '../../kernel/money.ts';
import type { Entry } from '../../model/entries/entry.ts';
import { touch } from '../../model/orders/order-changes.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import { agreeWithRefunds } from '../../model/orders/refunds.ts';
import {
  lostRecordings,
  missingEntry,
  providerRecordings,
  receivableByEntries,
} from '../../model/provider/provider-recordings.ts';
import { applyDispute } from '../provider-updates/apply-dispute.ts';
import { applyRefund } from '../provider-updates/apply-refund.ts';
import type { UpdateResult } from '../provider-updates/provider-update.ts';
import { providerPages } from '../runtime/provider-pages.ts';
import { MENDING } from './apply-difference.ts';
import { settleAccount } from './settle-account.ts';
import { askAboutOrder } from '../provider-calls/sweep-order.ts';
import { type OrderBooks, readOrderBooks } from '../provider-updates/order-books.ts';
import { decisionContext } from '../provider-updates/process-provider-update.ts';
import { type CallAnswer, type Transaction, decideAndCommit } from '../runtime/decide-and-commit.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readOrderAt } from '../runtime/read-order.ts';

/** What was settled once everything of the provider's was applied. */
export interface SettledBooks {
  /** Entries that were missing, and balances that were not what their entries come to. */
  readonly entries: number;
  readonly balances: number;
  /** Accounts whose entries come to less than nothing: what they spent is there, and what they got isn't. */
  readonly below: readonly AccountRef[];
  readonly complete: boolean;
}

type Counts = { -readonly [Name in keyof SettledBooks]: SettledBooks[Name] } & { below: AccountRef[] };

const SEGMENTS = 4;
const MAX_ENTRIES = 1_000;

/**
 * After a restore, whose items are of different moments: asks about every order that waits for the provider, gives every
 * order the entries that it lacks, and brings every balance to what its entries come to. Reads the whole table.
 */
export async function settleBooks(ledger: Ledger, createdFromS: number): Promise<SettledBooks> {
  const counts: Counts = { entries: 0, balances: 0, below: [], complete: true };
  await applyListedEvents(ledger, counts, createdFromS);
  const found = await findAll(ledger);
  for (const ref of found.orders) {
    const order = await readOrderAt(ledger.store, ref);
    if (order !== undefined && (await askAboutOrder(ledger, order)) === 'UNKNOWN') counts.complete = false;
  }
  for (const ref of found.orders) await settleOrder(ledger, counts, ref);
  for (const ref of found.accounts) {
    const { isSettled, balances, isBelow } = await settleAccount(ledger, ref);
    if (!isSettled) counts.complete = false;
    counts.balances += balances;
    if (isBelow) counts.below.push(ref);
  }
  return counts;
}

/**
 * A refund or a dispute that was made before the loss may have changed after it: the provider's events tell which did, and
 * the provider what they are now.
 */
async function applyListedEvents(ledger: Ledger, counts: Counts, createdFromS: number): Promise<void> {
  const { provider } = ledger;
  const [refunds, disputes] = [new Set<string>(), new Set<string>()];
  for await (const page of providerPages(provider.listEvents, ({ eventId }) => eventId, createdFromS)) {
    if (page.kind !== 'DONE') counts.complete = false;
    else
      for (const { object } of page.value.items) {
        if (object.kind === 'refund') refunds.add(object.refund.providerRefundId);
        if (object.kind === 'dispute') disputes.add(object.dispute.disputeId);
      }
  }
  const results: (UpdateResult['kind'] | 'UNANSWERED')[] = [];
  for (const id of [...refunds].reverse()) {
    const found = await provider.retrieveRefund(id);
    results.push(
      found.kind === 'DONE' ? (await applyRefund(ledger, found.value, MENDING)).kind : 'UNANSWERED',
    );
  }
  for (const id of [...disputes].reverse()) {
    const found = await provider.retrieveDispute(id);
    results.push(
      found.kind === 'DONE' ? (await applyDispute(ledger, found.value, MENDING)).kind : 'UNANSWERED',
    );
  }
  if (results.some((kind) => kind !== 'DONE')) counts.complete = false;
}

/** The keys of all orders and accounts. */
async function findAll({ store }: Ledger): Promise<{
  readonly orders: readonly OrderRef[];
  readonly accounts: readonly AccountRef[];
}> {
  const orders: OrderRef[] = [];
  const accounts = new Map<string, AccountRef>();
  for (let segment = 0; segment < SEGMENTS; segment += 1) {
    let from: StoredItem | undefined;
    do {
      const page = await store.scan(segment, SEGMENTS, from);
      for (const item of page.items) {
        const [uuid, type] = [readString(item, 'uuid'), readString(item, 'type')];
        const [tenant = '', accountId = ''] = uuid.split('#');
        if (!isTenantId(tenant) || !isId(accountId)) continue;
        if (type.startsWith(PREFIX.order))
          orders.push({ tenant, accountId, orderId: type.slice(PREFIX.order.length) });
        if ([PREFIX.balance, PREFIX.entry].some((prefix) => type.startsWith(prefix)))
          accounts.set(uuid, { tenant, accountId });
      }
      from = page.next;
    } while (from !== undefined);
  }
  return { orders, accounts: [...accounts.values()] };
}

type Step = 'WRITTEN' | 'SETTLED' | 'FAILED';

async function settleOrder(ledger: Ledger, counts: Counts, ref: OrderRef): Promise<void> {
  for (let written = 0; written < MAX_ENTRIES; written += 1) {
    const step = await decideAndCommit<Step>(ledger, {
      decide: () => settleOne(ledger, ref),
      failed: () => 'FAILED',
    });
    if (step === 'FAILED') counts.complete = false;
    if (step !== 'WRITTEN') return;
    counts.entries += 1;
  }
}

async function settleOne(ledger: Ledger, ref: OrderRef): Promise<CallAnswer<Step> | Transaction<Step>> {
  const books = await readOrderBooks(ledger, undefined, ref);
  if (books === 'MOVING') return { kind: 'ANSWER', answer: 'FAILED' };
  const { order } = books ?? {};
  const settled = books === undefined || order === undefined ? undefined : settledOrder(ledger, order, books);
  if (books === undefined || order === undefined || settled === undefined)
    return { kind: 'ANSWER', answer: 'SETTLED' };
  const { after, entry, refund } = settled;
  return {
    kind: 'COMMIT',
    plan: plan(
      ledger.ids.token(),
      updateOrder(order, after, ledger.settings),
      ...(refund === undefined ? [] : [putRefund({ order: after, refund })]),
      ...(entry === undefined ? [] : [recordMissingEntry(entry, books.wallet)]),
    ),
    committed: () => 'WRITTEN',
  };
}

interface SettledOrder {
  readonly after: Order;
  readonly entry: Entry | undefined;
  readonly refund: Refund | undefined;
}

/** The order as its refunds say, with the first entry that it lacks; undefined where both are there already. */
function settledOrder(
  ledger: Ledger,
  order: Order,
  { refunds, entries, wallet }: OrderBooks,
): SettledOrder | undefined {
  const context = decisionContext(ledger);
  const touched = touch(order, context.atMs, {});
  const agreed = agreeWithRefunds(touched, refunds, context.atMs);
  const all = [...providerRecordings(order, refunds), ...lostRecordings(order, refunds, entries)];
  const entry = all
    .map((what) => missingEntry(agreed, what, entries, wallet?.posted ?? ZERO, context))
    .find((one) => one !== undefined);
  const known = entry === undefined ? entries : [...entries, entry];
  const after =
    order.kind === 'TOP_UP' ? { ...agreed, receivable: receivableByEntries(order, known) } : agreed;
  if (entry === undefined && isSame(after, touched, ledger)) return undefined;
  const refund = refunds.find(({ refundId, state }) => refundId === entry?.refundId && state !== 'FAILED');
  return {
    after,
    entry,
    refund: refund === undefined ? undefined : { ...refund, ...defined({ entryId: entry?.entryId }) },
  };
}

function isSame(one: Order, other: Order, { settings }: Ledger): boolean {
  const asItem = (order: Order): string => JSON.stringify(toAttributes(orderAttributes(order, settings)));
  return asItem(one) === asItem(other);
}
