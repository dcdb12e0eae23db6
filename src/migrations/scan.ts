import { type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import type { ScanPage, Store } from '../ledger/table/store.ts';

const SEGMENTS = 4;

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

/** The key of some item for which `isWanted` holds, or undefined once the whole table was read without one. */
export async function findItem(
  store: Store,
  isWanted: (item: StoredItem) => boolean,
): Promise<string | undefined> {
  let found: StoredItem | undefined;
  await Promise.all(
    Array.from({ length: SEGMENTS }, async (_, segment) => {
      for await (const { items } of pages(store, segment, SEGMENTS)) {
        found ??= items.find(isWanted);
        if (found !== undefined) return;
      }
    }),
  );
  return found === undefined ? undefined : `${readString(found, 'uuid')} ${readString(found, 'type')}`;
}
