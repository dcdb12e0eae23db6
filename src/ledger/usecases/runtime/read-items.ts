import type { StoredItem } from '../../kernel/attributes.ts';
import type { ItemKey } from '../../kernel/keys.ts';
import type { Store } from '../../table/store.ts';

const MAX_KEYS = 100;

interface Readable {
  readonly store: Pick<Store, 'get'>;
}

/**
 * Consistent reads of any number of items, in the order of `keys`; undefined where there is none.
 * Throws TableUnavailableError, and what `read` throws.
 */
export async function readItems<Value>(
  { store }: Readable,
  keys: readonly ItemKey[],
  read: (item: StoredItem) => Value,
): Promise<readonly (Value | undefined)[]> {
  const values: (Value | undefined)[] = [];
  for (let start = 0; start < keys.length; start += MAX_KEYS) {
    const items = await store.get(keys.slice(start, start + MAX_KEYS));
    values.push(...items.map((item) => (item === undefined ? undefined : read(item))));
  }
  return values;
}

/** The same for one item. */
export async function readItem<Value>(
  { store }: Readable,
  key: ItemKey,
  read: (item: StoredItem) => Value,
): Promise<Value | undefined> {
  const [item] = await store.get([key]);
  return item === undefined ? undefined : read(item);
}
