import { overflowKeys } from '../../audit/overflow-items.ts';
import { type AccountItems, type UnmovedRecords, readAccount } from '../../audit/audit.ts';
import { type StoredItem, readString } from '../../kernel/attributes.ts';
import { type AccountRef, type ItemKey, PREFIX, metricsKey, partition } from '../../kernel/keys.ts';
import type { Store } from '../../table/store.ts';
import { readDistinct } from '../runtime/read-distinct.ts';

const PAGE_SIZE = 1_000;

/**
 * Reads what can move, then the entries and the refunds that have items of their own, then what can move again: every
 * entry commits with a balance or an order, every such refund with its order, so if none of them was written in between,
 * all of it is one moment. Undefined if something was.
 * @param found such refunds that a scan came across; those that its entries name are read besides
 */
export async function readAtRest(
  store: Store,
  ref: AccountRef,
  found: readonly ItemKey[],
  unmoved: UnmovedRecords | undefined,
): Promise<AccountItems | undefined> {
  const before = await readMoving(store, ref, unmoved);
  const entries = await readAll(store, ref, PREFIX.entry);
  // Written with its order and never again.
  const metadata = await readAll(store, ref, PREFIX.metadata);
  const own = [...before, ...entries, ...metadata];
  const named = overflowKeys(readAccount(ref, own, unmoved));
  const overflow = found.length + named.length === 0 ? [] : await readDistinct(store, [...found, ...named]);
  const after = await readMoving(store, ref, unmoved);
  if (stamp(before) !== stamp(after)) return undefined;
  return readAccount(ref, [...own, ...overflow], unmoved);
}

async function readMoving(
  store: Store,
  ref: AccountRef,
  unmoved: UnmovedRecords | undefined,
): Promise<readonly StoredItem[]> {
  const balances = await readAll(store, ref, PREFIX.balance);
  const orders = await readAll(store, ref, PREFIX.order);
  const metrics = metricsKey(ref);
  const keys: ItemKey[] =
    unmoved === undefined || unmoved.type === metrics.type
      ? [metrics]
      : [metrics, { uuid: metrics.uuid, type: unmoved.type }];
  const single = await store.get(keys);
  return [...balances, ...orders, ...single.filter((item) => item !== undefined)];
}

/** How often each item was written: balances and metrics count it in `writes`, orders in `rev`. */
function stamp(items: readonly StoredItem[]): string {
  return items
    .map((item) => [readString(item, 'type'), item['writes']?.N, item['rev']?.N].join(' '))
    .join('\n');
}

async function readAll(
  store: Store,
  { tenant, accountId }: AccountRef,
  prefix: string,
): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  for (;;) {
    const page = await store.query({
      uuid: partition(tenant, accountId),
      prefix,
      limit: PAGE_SIZE,
      newestFirst: false,
      after: items.length === 0 ? undefined : readString(items[items.length - 1] ?? {}, 'type'),
    });
    items.push(...page);
    if (page.length < PAGE_SIZE) return items;
  }
}
