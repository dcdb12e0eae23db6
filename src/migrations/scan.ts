import { type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { QueryRequest, ScanPage, Store } from '../ledger/table/store.ts';

/*
 * Reading more than one answer of the table holds: a range of a partition to its end, the whole table in segments, and
 * all of it at a given pace.
 */

const RANGE_PAGE_SIZE = 1_000;
const SEARCH_SEGMENTS = 4;

/** A range of a partition to its end, read page by page as far as it is asked for; `limit` is the size of a page. */
export async function* itemsIn(
  store: Store,
  request: Omit<QueryRequest, 'limit'> & { readonly limit?: number },
): AsyncGenerator<StoredItem, undefined> {
  const { limit = RANGE_PAGE_SIZE } = request;
  let { after } = request;
  for (;;) {
    const items = await store.query({ ...request, limit, after });
    yield* items;
    const last = items.at(-1);
    if (last === undefined || items.length < limit) return undefined;
    after = readString(last, 'type');
  }
}

/** All of a range, in the order of its sort keys. */
export async function wholeRange(store: Store, uuid: string, prefix: string): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  for await (const item of itemsIn(store, { uuid, prefix, newestFirst: false })) items.push(item);
  return items;
}

/**
 * One segment of the table, page by page, from a position on. The next page is read before one is given: whoever removes
 * the item that a page ended with would make an embedded engine lose its place.
 */
export async function* pages(
  store: Store,
  segment: number,
  segments: number,
  from?: StoredItem,
  pageSize?: number,
): AsyncGenerator<ScanPage> {
  let page: ScanPage | undefined = await store.scan(segment, segments, from, pageSize);
  while (page !== undefined) {
    const following: ScanPage | undefined =
      page.next === undefined ? undefined : await store.scan(segment, segments, page.next, pageSize);
    yield page;
    page = following;
  }
}

/** Works on all segments at the same time. Rejects with what one of them threw, once every other has ended too. */
export async function inSegments(segments: number, work: (segment: number) => Promise<void>): Promise<void> {
  const working = Array.from({ length: segments }, (_, segment) => work(segment));
  await Promise.allSettled(working);
  await Promise.all(working);
}

/** The key of some item for which `isWanted` holds, or undefined once the whole table was read without one. */
export async function findItem(
  store: Store,
  isWanted: (item: StoredItem) => boolean,
): Promise<string | undefined> {
  let found: StoredItem | undefined;
  await inSegments(SEARCH_SEGMENTS, async (segment) => {
    for await (const { items } of pages(store, segment, SEARCH_SEGMENTS)) {
      found ??= items.find(isWanted);
      if (found !== undefined) return;
    }
  });
  return found === undefined ? undefined : `${readString(found, 'uuid')} ${readString(found, 'type')}`;
}

/** Keeps what is consumed under a rate: spend first, since only the answer tells how much it was, then wait it off. */
export interface CapacityLimiter {
  readonly spend: (units: number) => void;
  /** Resolves once everything spent so far is paid for. */
  readonly settle: () => Promise<void>;
  readonly spentUnits: () => number;
}

/** @param unitsPerS capacity units a second, reads and writes together */
export function createCapacityLimiter(
  unitsPerS: number,
  clock: Clock,
  wait: (ms: number) => Promise<void>,
): CapacityLimiter {
  let paidUntilMs = clock.nowMs();
  let spent = 0;
  return {
    spend: (units) => {
      spent += units;
      paidUntilMs = Math.max(paidUntilMs, clock.nowMs()) + (units / unitsPerS) * 1_000;
    },
    settle: async () => {
      const aheadMs = paidUntilMs - clock.nowMs();
      if (aheadMs > 0) await wait(aheadMs);
    },
    spentUnits: () => spent,
  };
}
