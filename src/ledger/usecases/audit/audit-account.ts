import { type AccountItems, type UnmovedRecords, readAccount } from '../../audit/audit.ts';
import { type StoredItem, readString } from '../../kernel/attributes.ts';
import { type AccountRef, type ItemKey, PREFIX, metricsKey, partition } from '../../kernel/keys.ts';
import type { Store } from '../../table/store.ts';
import { readPartition } from '../runtime/read-partition.ts';

/**
 * Reads what can move, then entries and refunds, then what can move again: every entry commits with a balance or an order,
 * every refund with its order, so if none of them was written in between, all of it is one moment. Undefined if something
 * was.
 */
export async function readAtRest(
  store: Store,
  ref: AccountRef,
  unmoved: UnmovedRecords | undefined,
): Promise<AccountItems | undefined> {
  const before = await readMoving(store, ref, unmoved);
  const entries = await readAll(store, ref, PREFIX.entry);
  // Written with its order and never again.
  const metadata = await readAll(store, ref, PREFIX.metadata);
  const refunds = await readAll(store, ref, PREFIX.refund);
  const after = await readMoving(store, ref, unmoved);
  if (stamp(before) !== stamp(after)) return undefined;
  return readAccount(ref, [...before, ...entries, ...metadata, ...refunds], unmoved);
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

function readAll(
  store: Store,
  { tenant, accountId }: AccountRef,
  prefix: string,
): Promise<readonly StoredItem[]> {
  return readPartition(store, partition(tenant, accountId), prefix);
}
