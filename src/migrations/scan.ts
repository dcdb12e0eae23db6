import { type StoredItem, readString } from '../ledger/attributes.ts';
import type { Store } from '../ledger/store.ts';

const SEGMENTS = 4;

/** One segment of the table, page by page, from a position on. */
export async function* pages(
  store: Store,
  segment: number,
  segments: number,
  from?: StoredItem,
  pageSize?: number,
): AsyncGenerator<{ readonly items: readonly StoredItem[]; readonly next: StoredItem | undefined }> {
  let next = from;
  do {
    const page = await store.scan(segment, segments, next, pageSize);
    next = page.next;
    yield page;
  } while (next !== undefined);
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
