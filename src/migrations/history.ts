import { type StoredItem, readDecimal, readInteger, readString } from '../ledger/kernel/attributes.ts';
import { ledgerAccount, netChanges, readEntry } from '../ledger/model/entries/entry.ts';
import { type AccountRef, PREFIX, balanceKey, partition } from '../ledger/kernel/keys.ts';
import type { Decimal } from '../ledger/kernel/money.ts';
import type { Store } from '../ledger/table/store.ts';
import { leastUlidAt, ulidTimeMs } from '../ledger/kernel/ulid-time.ts';
import { accountOf } from './legacy-record.ts';
import { BACKFILL_ACTOR } from './move.ts';
import { itemsIn } from './scan.ts';

/** One movement of one balance, wherever it is told of. */
export interface Movement {
  readonly uuid: string;
  /** The balance's sort key in the new shape. */
  readonly type: string;
  readonly atMs: number;
  readonly kind: string;
  readonly amount: Decimal;
  /** The sort key of the item that tells of it, and the time that this names: with the rest, its place in the history. */
  readonly key: string;
  readonly keyMs: number;
}

/** The old history's rows: `HISTORY#{time}#{kind}#{asset}`, the time in 15 digits so that they sort by it. */
const HISTORY_PREFIX = 'HISTORY#';
const TIME_DIGITS = 15;
/** Sorts after the `#` that follows the time in a row's sort key. */
const AFTER_TIME = '$';

/**
 * An entry's id never names an earlier time than the entry, but may name a later one: ids of one process only grow, also
 * where requests overlap or a clock is set back. So long after a row what tells of the same movement may be named.
 */
const MAX_ID_LEAD_MS = 600_000;
const MAX_PAGE_SIZE = 1_000;

export interface HistoryReading {
  /** How many movements at most. Fewer: there are no more. */
  readonly limit: number;
  /** Only what comes after this one in the reading: the last movement of the page before. */
  readonly before?: Movement | undefined;
}

/**
 * A page of an account's movements while old and new history both exist: newest first, and of one moment by kind. What
 * both tell of, by balance, time and kind, is told once, as the entry has it.
 */
export async function readHistory(
  store: Store,
  { tenant, accountId }: AccountRef,
  { limit, before }: HistoryReading,
): Promise<readonly Movement[]> {
  const uuid = partition(tenant, accountId);
  const pageSize = Math.min(limit + 1, MAX_PAGE_SIZE);
  const read = async function* (
    prefix: string,
    after: string | undefined,
    movementsOf: (item: StoredItem) => readonly Movement[],
  ): AsyncGenerator<Movement, undefined> {
    const request = { uuid, prefix, after, limit: pageSize, newestFirst: true };
    for await (const item of itemsIn(store, request)) yield* movementsOf(item);
    return undefined;
  };
  const entries = read(PREFIX.entry, before && afterEntriesFor(before.keyMs), readEntryMovements);
  const rows = read(HISTORY_PREFIX, before && afterRowsAt(before.keyMs), (item) => [readHistoryRow(item)]);
  const merged: Movement[] = [];
  const byEntries = new Set<string>();
  const isRepeated = (movement: Movement): boolean => isRow(movement) && byEntries.has(identity(movement));
  for await (const moment of moments([entries, rows])) {
    for (const movement of moment) if (!isRow(movement)) byEntries.add(identity(movement));
    const once = moment.filter((movement) => !isRepeated(movement)).sort(inOrder);
    merged.push(...once.filter((movement) => before === undefined || inOrder(before, movement) < 0));
    if (merged.length >= limit) break;
  }
  return merged.slice(0, limit);
}

/** A reading downwards from here begins with the rows of this time. */
function afterRowsAt(keyMs: number): string {
  return `${HISTORY_PREFIX}${String(keyMs).padStart(TIME_DIGITS, '0')}${AFTER_TIME}`;
}

/** A reading downwards from here begins a little before, and passes every entry that may tell of what a row of this time tells. */
function afterEntriesFor(keyMs: number): string {
  return `${PREFIX.entry}${leastUlidAt(keyMs + MAX_ID_LEAD_MS + 1)}`;
}

/** The movements of an entry. An opening entry has none: what it records was moved, and told of, before. */
function readEntryMovements(item: StoredItem): readonly Movement[] {
  const entry = readEntry(item);
  if (entry.actor === BACKFILL_ACTOR) return [];
  return netChanges(entry, ledgerAccount.wallet(entry.accountId)).map(({ asset, net }) => ({
    ...balanceKey({ ...entry, asset }),
    atMs: entry.atMs,
    kind: entry.operation,
    amount: net,
    key: readString(item, 'type'),
    keyMs: ulidTimeMs(entry.entryId),
  }));
}

function readHistoryRow(item: StoredItem): Movement {
  const atMs = readInteger(item, 'at');
  return {
    ...balanceKey({ ...accountOf(item), asset: readString(item, 'asset') }),
    atMs,
    kind: readString(item, 'kind'),
    amount: readDecimal(item, 'amount'),
    key: readString(item, 'type'),
    keyMs: atMs,
  };
}

function isRow({ key }: Movement): boolean {
  return key.startsWith(HISTORY_PREFIX);
}

/** Several histories as one, moment by moment, the newest first. */
async function* moments(
  histories: readonly AsyncGenerator<Movement, undefined>[],
): AsyncGenerator<readonly Movement[]> {
  const next = await Promise.all(histories.map((history) => history.next()));
  for (;;) {
    const atMs = Math.max(...next.map(({ value }) => value?.keyMs ?? -Infinity));
    if (atMs === -Infinity) return;
    const moment: Movement[] = [];
    for (const [index, history] of histories.entries()) {
      for (let one = next[index]; one?.value?.keyMs === atMs; one = next[index]) {
        moment.push(one.value);
        next[index] = await history.next();
      }
    }
    yield moment;
  }
}

function identity({ type, atMs, kind }: Movement): string {
  return [type, atMs, kind].join('\n');
}

/** Total over all movements of an account: no two have the same place. */
function inOrder(one: Movement, other: Movement): number {
  const ranks = [
    other.keyMs - one.keyMs,
    compared(one.kind, other.kind),
    compared(one.type, other.type),
    compared(other.key, one.key),
  ];
  return ranks.find((rank) => rank !== 0) ?? 0;
}

/** By code units, as the table sorts. */
function compared(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
