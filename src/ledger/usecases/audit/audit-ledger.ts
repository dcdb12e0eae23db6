import {
  type AccountItems,
  type AuditProblem,
  type UnmovedRecords,
  isAudited,
  judgeAccount,
  readAccount,
} from '../../audit/audit.ts';
import { type AuditTotal, type Totals, addToTotals, printedTotals } from '../../audit/audit-totals.ts';
import { type StoredItem, readString } from '../../kernel/attributes.ts';
import { groupBy } from '../../kernel/group-by.ts';
import { isId, isTenantId } from '../../kernel/id-grammar.ts';
import type { AccountRef } from '../../kernel/keys.ts';
import type { Store } from '../../table/store.ts';
import { readAtRest } from './audit-account.ts';

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

interface AuditState {
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
  const tally: AuditState = { totals: new Map(), items: 0, accounts: 0, entries: 0, orders: 0 };
  const { suspects, strays } = await scanTable(store, options, tally);
  const { settled, unsettled } = await settle(store, suspects, options);
  for (const account of settled) take(tally, account);
  const { totals, ...counts } = tally;
  const problems = [...settled.flatMap(judgeAccount), ...strays];
  return { ...counts, totals: printedTotals(totals), problems, unsettled };
}

function take(tally: AuditState, account: AccountItems): void {
  addToTotals(tally.totals, account);
  tally.accounts += 1;
  tally.entries += account.entries.length;
  tally.orders += account.orders.length;
}

interface Scanned {
  /** Accounts that one look isn't enough for. */
  readonly suspects: readonly AccountRef[];
  /** Money that is in no account. */
  readonly strays: readonly AuditProblem[];
}

/** Reads every part of the table, counts the accounts that are in order, and gives those that don't seem to be. */
async function scanTable(store: Store, options: AuditOptions, tally: AuditState): Promise<Scanned> {
  const { segments, unmoved, onProgress } = options;
  const suspects: AccountRef[] = [];
  const strays: AuditProblem[] = [];
  let segmentsDone = 0;
  const waiting = Array.from({ length: segments }, (_, segment) => segment);
  const reader = async (): Promise<void> => {
    for (let segment = waiting.shift(); segment !== undefined; segment = waiting.shift()) {
      for await (const page of readSegment(store, segment, segments, unmoved)) {
        tally.items += page.items;
        for (const account of page.accounts)
          if (judgeAccount(account).length === 0) take(tally, account);
          else suspects.push({ tenant: account.tenant, accountId: account.accountId });
        strays.push(...page.strays);
        onProgress?.({ segmentsDone, segments, items: tally.items });
      }
      segmentsDone += 1;
      onProgress?.({ segmentsDone, segments, items: tally.items });
    }
  };
  await Promise.all(Array.from({ length: Math.min(READERS, segments) }, reader));
  return { suspects, strays };
}

interface SegmentPage {
  readonly items: number;
  readonly accounts: readonly AccountItems[];
  readonly strays: readonly AuditProblem[];
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
    const audited = page.items.filter(
      (item) => isOfAccount(item) && isAudited(readString(item, 'type'), unmoved),
    );
    const byOwner = groupBy([...unfinished, ...audited], ownerOf);
    const last = next === undefined ? undefined : [...byOwner.keys()].at(-1);
    unfinished = last === undefined ? [] : (byOwner.get(last) ?? []);
    const whole = [...byOwner].filter(([owner]) => owner !== last);
    const accounts = whole.map(([owner, items]) => readAccount(refOf(owner), items, unmoved));
    const strays = page.items.flatMap((item) => strayMoney(item, unmoved));
    yield { items: page.items.length, accounts, strays };
  } while (next !== undefined);
}

function ownerOf(item: StoredItem): string {
  return readString(item, 'uuid');
}

/** Whose a partition is, as far as its name says. */
function refOf(owner: string): AccountRef {
  const [tenant = '', ...rest] = owner.split('#');
  return { tenant, accountId: rest.join('#') };
}

function isOfAccount(item: StoredItem): boolean {
  const { tenant, accountId } = refOf(ownerOf(item));
  return isTenantId(tenant) && isId(accountId);
}

/** Money where no account can be, as no release of ours wrote it. About records yet to move, their migration speaks. */
function strayMoney(item: StoredItem, unmoved: UnmovedRecords | undefined): readonly AuditProblem[] {
  const type = readString(item, 'type');
  if (isOfAccount(item) || type === unmoved?.type || !isAudited(type)) return [];
  const owner = ownerOf(item);
  return [
    {
      ...refOf(owner),
      promise: 'I2',
      item: type,
      what: 'account',
      expected: 'one of a tenant',
      found: owner,
    },
  ];
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
      else stillOpen.push({ ...suspect, confirmations });
    }
    open = stillOpen;
  }
  return { settled, unsettled: open.map(({ ref }) => ref) };
}
