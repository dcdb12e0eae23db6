import {
  type AccountItems,
  type AuditProblem,
  type UnmovedRecords,
  isAudited,
  judgeAccount,
  readAccount,
} from '../audit/audit.ts';
import { type AuditTotal, type Totals, addToTotals, printedTotals } from '../audit/audit-totals.ts';
import { type StoredItem, readString } from '../attributes.ts';
import { groupBy } from '../group-by.ts';
import { isId, isTenantId } from '../id-grammar.ts';
import { type AccountRef, type ItemKey, PREFIX, metricsKey, partition } from '../keys.ts';
import type { Store } from '../store.ts';

/** What an audit found. Amounts are plain decimals, so that the report is its own JSON. */
export interface AuditReport {
  readonly items: number;
  readonly accounts: number;
  readonly entries: number;
  readonly orders: number;
  readonly totals: readonly AuditTotal[];
  /** What is off, for certain. Empty: the promises hold. */
  readonly problems: readonly AuditProblem[];
  /** Accounts that looked off and never held still long enough to tell. */
  readonly unsettled: readonly AccountRef[];
}

export interface AuditProgress {
  readonly segmentsDone: number;
  readonly segments: number;
  readonly items: number;
}

export interface AuditOptions {
  /** Into how many parts the table is cut. */
  readonly segments: number;
  /** Waits; an argument so that tests own time. */
  readonly wait: (ms: number) => Promise<void>;
  /** The records that a migration under way has yet to move. */
  readonly unmoved?: UnmovedRecords;
  readonly onProgress?: (progress: AuditProgress) => void;
}

/** So many parts are read at the same time. */
const READERS = 4;
/** A difference counts once it was seen this often while nothing moved, seconds apart (docs/DESIGN.md §14). */
const CONFIRMATIONS = 3;
const PAUSE_MS = 2_000;
/** An account that moves during this many readings is left unsettled. */
const MAX_READINGS = 12;
const PAGE_SIZE = 1_000;

interface Tally {
  readonly totals: Totals;
  items: number;
  accounts: number;
  entries: number;
  orders: number;
}

/**
 * Proves I1, I2 and I4 over the whole table, beside live traffic: what looks off in the scan is read again, and a
 * difference is reported only where nothing of the account moved between the first and the last read of it, three
 * times. Few accounts are in memory at a time.
 */
export async function auditTable(store: Store, options: AuditOptions): Promise<AuditReport> {
  const tally: Tally = { totals: new Map(), items: 0, accounts: 0, entries: 0, orders: 0 };
  const suspects = await scanTable(store, options, tally);
  const { settled, unsettled } = await settle(store, suspects, options);
  for (const account of settled) take(tally, account);
  const { totals, ...counts } = tally;
  const problems = settled.flatMap(judgeAccount);
  return { ...counts, totals: printedTotals(totals), problems, unsettled };
}

function take(tally: Tally, account: AccountItems): void {
  addToTotals(tally.totals, account);
  tally.accounts += 1;
  tally.entries += account.entries.length;
  tally.orders += account.orders.length;
}

/** Reads every part of the table, counts the accounts that are in order, and gives those that don't seem to be. */
async function scanTable(
  store: Store,
  { segments, unmoved, onProgress }: AuditOptions,
  tally: Tally,
): Promise<readonly AccountRef[]> {
  const suspects = new Map<string, AccountRef>();
  let segmentsDone = 0;
  const waiting = Array.from({ length: segments }, (_, segment) => segment);
  const reader = async (): Promise<void> => {
    for (let segment = waiting.shift(); segment !== undefined; segment = waiting.shift()) {
      for await (const page of readSegment(store, segment, segments, unmoved)) {
        tally.items += page.items;
        for (const account of page.accounts) {
          const { tenant, accountId } = account;
          if (judgeAccount(account).length === 0) take(tally, account);
          else suspects.set(partition(tenant, accountId), { tenant, accountId });
        }
        onProgress?.({ segmentsDone, segments, items: tally.items });
      }
      segmentsDone += 1;
      onProgress?.({ segmentsDone, segments, items: tally.items });
    }
  };
  await Promise.all(Array.from({ length: Math.min(READERS, segments) }, reader));
  return [...suspects.values()];
}

interface SegmentPage {
  readonly items: number;
  readonly accounts: readonly AccountItems[];
}

/** Items of one account come together in a scan; the last one of a page may go on in the next, so it is kept till then. */
async function* readSegment(
  store: Store,
  segment: number,
  segments: number,
  unmoved: UnmovedRecords | undefined,
): AsyncGenerator<SegmentPage, void, undefined> {
  let unfinished: readonly StoredItem[] = [];
  let next: StoredItem | undefined;
  do {
    const page = await store.scan(segment, segments, next);
    next = page.next;
    const audited = page.items.filter((item) => isAuditedItem(item, unmoved));
    const byOwner = groupBy([...unfinished, ...audited], ownerOf);
    const last = next === undefined ? undefined : [...byOwner.keys()].at(-1);
    unfinished = last === undefined ? [] : (byOwner.get(last) ?? []);
    const whole = [...byOwner].filter(([owner]) => owner !== last);
    const accounts = whole.map(([owner, items]) => readAccount(refOf(owner), items, unmoved));
    yield { items: page.items.length, accounts };
  } while (next !== undefined);
}

function ownerOf(item: StoredItem): string {
  return readString(item, 'uuid');
}

function refOf(owner: string): AccountRef {
  const [tenant = '', accountId = ''] = owner.split('#');
  return { tenant, accountId };
}

function isAuditedItem(item: StoredItem, unmoved: UnmovedRecords | undefined): boolean {
  const { tenant, accountId } = refOf(ownerOf(item));
  return isTenantId(tenant) && isId(accountId) && isAudited(readString(item, 'type'), unmoved);
}

/**
 * Reads suspects again until each was in order once, or off three times. Between rounds it waits, once for all of them.
 * Gives each as it was read last, and those that kept moving.
 */
async function settle(
  store: Store,
  suspects: readonly AccountRef[],
  { wait, unmoved }: AuditOptions,
): Promise<{ readonly settled: readonly AccountItems[]; readonly unsettled: readonly AccountRef[] }> {
  const settled: AccountItems[] = [];
  let open = suspects.map((ref) => ({ ref, confirmations: 0 }));
  for (let readings = 0; open.length > 0 && readings < MAX_READINGS; readings += 1) {
    if (readings > 0) await wait(PAUSE_MS);
    const stillOpen: typeof open = [];
    for (const suspect of open) {
      const account = await readAtRest(store, suspect.ref, unmoved);
      const isOff = account === undefined || judgeAccount(account).length > 0;
      const confirmations = suspect.confirmations + (account === undefined ? 0 : 1);
      if (account !== undefined && (!isOff || confirmations === CONFIRMATIONS)) settled.push(account);
      else stillOpen.push({ ref: suspect.ref, confirmations });
    }
    open = stillOpen;
  }
  return { settled, unsettled: open.map(({ ref }) => ref) };
}

/**
 * Reads what can move, then the entries, then what can move again: every entry commits with a balance or an order, so
 * if none of them was written in between, all of it is one moment. Undefined if something was.
 */
async function readAtRest(
  store: Store,
  ref: AccountRef,
  unmoved: UnmovedRecords | undefined,
): Promise<AccountItems | undefined> {
  const before = await readMoving(store, ref, unmoved);
  const entries = await readAll(store, ref, PREFIX.entry);
  const after = await readMoving(store, ref, unmoved);
  if (stamp(before) !== stamp(after)) return undefined;
  return readAccount(ref, [...before, ...entries], unmoved);
}

async function readMoving(
  store: Store,
  ref: AccountRef,
  unmoved: UnmovedRecords | undefined,
): Promise<readonly StoredItem[]> {
  const balances = await readAll(store, ref, PREFIX.balance);
  const orders = await readAll(store, ref, PREFIX.order);
  const metrics = metricsKey(ref);
  const keys: ItemKey[] =
    unmoved === undefined || unmoved.type === metrics.type
      ? [metrics]
      : [metrics, { uuid: metrics.uuid, type: unmoved.type }];
  const single = await store.get(keys);
  return [...balances, ...orders, ...single.filter((item) => item !== undefined)];
}

/** How often each item was written: balances and metrics count it in `writes`, orders in `rev`. */
function stamp(items: readonly StoredItem[]): string {
  return items
    .map((item) => [readString(item, 'type'), item['writes']?.N, item['rev']?.N].join(' '))
    .join('\n');
}

async function readAll(
  store: Store,
  { tenant, accountId }: AccountRef,
  prefix: string,
): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  for (;;) {
    const page = await store.query({
      uuid: partition(tenant, accountId),
      prefix,
      limit: PAGE_SIZE,
      newestFirst: false,
      after: items.length === 0 ? undefined : readString(items[items.length - 1] ?? {}, 'type'),
    });
    items.push(...page);
    if (page.length < PAGE_SIZE) return items;
  }
}
