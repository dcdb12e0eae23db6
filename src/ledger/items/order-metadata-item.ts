import { type StoredItem, readKeyParts } from '../kernel/attributes.ts';
import { listAt, record, textAt } from '../kernel/codec.ts';
import { type OrderRef, PREFIX, metadataKey } from '../kernel/keys.ts';
import type { MetadataEntry } from '../model/orders/order-metadata.ts';
import { type PlanPart, putNew } from './plan.ts';

const METADATA = record<{ readonly metadata: readonly MetadataEntry[] }>({
  metadata: listAt('metadata', record<MetadataEntry>({ key: textAt('k'), value: textAt('v') })),
});

/** The item that holds an order's metadata, put with the order and never changed; the order says whether there is one. */
export function putMetadata(order: OrderRef, metadata: readonly MetadataEntry[]): PlanPart {
  return { items: [putNew('metadata', { ...metadataKey(order), ...METADATA.write({ metadata }) })] };
}

export function readMetadataItem(
  item: StoredItem,
): OrderRef & { readonly metadata: readonly MetadataEntry[] } {
  const [tenant, accountId, orderId] = readKeyParts(item, PREFIX.metadata);
  return { tenant, accountId, orderId, ...METADATA.read(item) };
}
