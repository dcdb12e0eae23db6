import { type StoredItem, readDecimal, readInteger, readString } from '../ledger/kernel/attributes.ts';
import { ledgerAccount, netChanges, readEntry } from '../ledger/model/entries/entry.ts';
import { type AccountRef, PREFIX, balanceKey, partition } from '../ledger/kernel/keys.ts';
import type { Decimal } from '../ledger/kernel/money.ts';
import type { QueryRequest, Store } from '../ledger/table/store.ts';
import { leastUlidAt, ulidTimeMs } from '../ledger/kernel/ulid-time.ts';
import { BACKFILL_ACTOR } from './move.ts';
import { itemsIn } from './range.ts';

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
export const HISTORY_PREFIX = 'HISTORY#';
const TIME_DIGITS = 15;
/** Sorts after the `#` that follows the time in a row's sort key. */
const AFTER_TIME = '$';

/**
 * An entry's id never names an earlier time than the entry, but may name a later one: ids of one process only grow, also
 * where requests overlap or a clock is set back. So long after a row what tells of the same movement may be named.
 */
const MAX_ID_LEAD_MS = 600_000;
const MAX_PAGE_SIZE = 1_000;

/** The movements of an entry. An opening entry has none: what it books was moved, and told of, before. */
export function movementsOf(item: StoredItem): readonly Movement[] {
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

export function readHistoryRow(item: StoredItem): Movement {
  const [tenant = '', accountId = ''] = readString(item, 'uuid').split('#');
  const atMs = readInteger(item, 'at');
  return {
    ...balanceKey({ tenant, accountId, asset: readString(item, 'asset') }),
    atMs,
    kind: readString(item, 'kind'),
    amount: readDecimal(item, 'amount'),
    key: readString(item, 'type'),
    keyMs: atMs,
  };
}

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
  account: AccountRef,
  { limit, before }: HistoryReading,
): Promise<readonly Movement[]> {
  const told: Movement[] = [];
  const byEntries = new Set<string>();
  for await (const { rows, movements } of moments(store, account, { limit, before })) {
    for (const movement of movements) byEntries.add(identity(movement));
    const ofMoment = [...movements, ...rows.filter((row) => !byEntries.has(identity(row)))];
    ofMoment.sort(inOrder);
    told.push(...ofMoment.filter((movement) => before === undefined || inOrder(before, movement) < 0));
    if (told.length >= limit) break;
  }
  return told.slice(0, limit);
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

interface Moment {
  readonly rows: readonly Movement[];
  readonly movements: readonly Movement[];
}

/** Both histories moment by moment, the newest first; entries from a little before a page, for the rows that they repeat. */
async function* moments(
  store: Store,
  { tenant, accountId }: AccountRef,
  { limit, before }: HistoryReading,
): AsyncGenerator<Moment> {
  const uuid = partition(tenant, accountId);
  const pageSize = Math.min(limit + 1, MAX_PAGE_SIZE);
  const read = { uuid, limit: pageSize, newestFirst: true };
  const rows = movementsIn(
    store,
    { ...read, prefix: HISTORY_PREFIX, after: before === undefined ? undefined : afterRowsAt(before.keyMs) },
    (item) => [readHistoryRow(item)],
  );
  const movements = movementsIn(
    store,
    {
      ...read,
      prefix: PREFIX.entry,
      after: before === undefined ? undefined : afterEntriesFor(before.keyMs),
    },
    movementsOf,
  );
  let row = await rows.next();
  let movement = await movements.next();
  while (row.done !== true || movement.done !== true) {
    const newest = [row, movement].map((next) => (next.done === true ? 0 : next.value.keyMs));
    const atMs = Math.max(...newest);
    const found: { rows: Movement[]; movements: Movement[] } = { rows: [], movements: [] };
    for (; row.done !== true && row.value.keyMs === atMs; row = await rows.next()) found.rows.push(row.value);
    for (; movement.done !== true && movement.value.keyMs === atMs; movement = await movements.next()) {
      found.movements.push(movement.value);
    }
    yield found;
  }
}

/** A reading downwards from here begins with the rows of this time. */
function afterRowsAt(keyMs: number): string {
  return `${HISTORY_PREFIX}${String(keyMs).padStart(TIME_DIGITS, '0')}${AFTER_TIME}`;
}

/** A reading downwards from here passes every entry that may tell of what a row of this time tells. */
function afterEntriesFor(keyMs: number): string {
  return `${PREFIX.entry}${leastUlidAt(keyMs + MAX_ID_LEAD_MS + 1)}`;
}

/** One history's movements, read as far as they are asked for. */
async function* movementsIn(
  store: Store,
  request: QueryRequest,
  movementsOfItem: (item: StoredItem) => readonly Movement[],
): AsyncGenerator<Movement, undefined> {
  for await (const item of itemsIn(store, request)) yield* movementsOfItem(item);
  return undefined;
}
