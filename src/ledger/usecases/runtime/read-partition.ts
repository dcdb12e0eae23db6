import { type StoredItem, readString } from '../../kernel/attributes.ts';
import type { Store } from '../../table/store.ts';

const PAGE_SIZE = 1_000;

/** All items of a partition whose sort keys begin with a prefix, by consistent reads. Throws TableUnavailableError. */
export async function readPartition(
  store: Pick<Store, 'query'>,
  uuid: string,
  prefix: string,
): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  for (;;) {
    const last = items.at(-1);
    const after = last === undefined ? undefined : readString(last, 'type');
    const page = await store.query({ uuid, prefix, limit: PAGE_SIZE, newestFirst: false, after });
    items.push(...page);
    if (page.length < PAGE_SIZE) return items;
  }
}
