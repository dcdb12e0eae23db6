import { readMetadataItem } from '../../items/order-metadata-item.ts';
import { type OrderRef, metadataKey } from '../../kernel/keys.ts';
import type { MetadataEntry } from '../../model/orders/order-metadata.ts';
import type { Order } from '../../model/orders/order.ts';
import type { Ledger } from '../runtime/ledger.ts';

/** The metadata of orders that the caller was shown, by one consistent read; undefined where an order has none. */
export async function readOrderMetadata(
  { store }: Pick<Ledger, 'store'>,
  refs: readonly OrderRef[],
): Promise<readonly (readonly MetadataEntry[] | undefined)[]> {
  const items = await store.get(refs.map(metadataKey));
  return items.map((item) => (item === undefined ? undefined : readMetadataItem(item).metadata));
}

/** Of one order; no read where it has none. */
export async function readMetadataOf(
  ledger: Pick<Ledger, 'store'>,
  order: Order,
): Promise<readonly MetadataEntry[]> {
  if (!order.hasMetadata) return [];
  const [metadata = []] = await readOrderMetadata(ledger, [order]);
  return metadata;
}
