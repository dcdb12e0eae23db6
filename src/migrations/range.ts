import { type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import type { QueryRequest, Store } from '../ledger/table/store.ts';

const PAGE_SIZE = 1_000;

/** A range of a partition to its end, read page by page as far as it is asked for; `limit` is a page's. */
export async function* itemsIn(
  store: Store,
  request: Omit<QueryRequest, 'limit'> & { readonly limit?: number },
): AsyncGenerator<StoredItem, undefined> {
  const { limit = PAGE_SIZE } = request;
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
export async function wholeRange(
  store: Store,
  range: Pick<QueryRequest, 'uuid' | 'prefix'>,
): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  for await (const item of itemsIn(store, { ...range, newestFirst: false })) items.push(item);
  return items;
}
