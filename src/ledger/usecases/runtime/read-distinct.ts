import type { StoredItem } from '../../kernel/attributes.ts';
import type { ItemKey } from '../../kernel/keys.ts';
import type { Store } from '../../table/store.ts';

const MAX_KEYS = 100;

/** The items that are there, each once, of however many keys; all keys of one type. Throws TableUnavailableError. */
export async function readDistinct(
  store: Pick<Store, 'get'>,
  keys: readonly ItemKey[],
): Promise<readonly StoredItem[]> {
  const distinct = [...new Map(keys.map((key) => [key.uuid, key])).values()];
  const items: StoredItem[] = [];
  for (let start = 0; start < distinct.length; start += MAX_KEYS) {
    const read = await store.get(distinct.slice(start, start + MAX_KEYS));
    items.push(...read.filter((item) => item !== undefined));
  }
  return items;
}
