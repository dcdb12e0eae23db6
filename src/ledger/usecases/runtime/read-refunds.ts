import { readRefund } from '../../items/refund-item.ts';
import { isUlid } from '../../kernel/id-grammar.ts';
import { type OrderRef, orderKey, refundKey, refundPrefix } from '../../kernel/keys.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import { MAX_REFUNDS } from '../../model/orders/order-size.ts';
import { type RefundDetails, knownRefund } from '../../model/provider/refunds.ts';
import type { Store } from '../../table/store.ts';
import { readItem, readItems } from './read-items.ts';
import { readPartition } from './read-partition.ts';

/*
 * Refunds are read after their order: whatever is written of them in between raises the order's `rev`, so that a decision
 * on both fails and is made again.
 */

interface Readable {
  readonly store: Pick<Store, 'get' | 'query'>;
}

/** Every refund of an order, those of its overpayments included. Throws TableUnavailableError. */
export async function readRefunds({ store }: Readable, order: OrderRef): Promise<readonly Refund[]> {
  return (await readPartition(store, orderKey(order).uuid, refundPrefix(order))).map(readRefund);
}

/** The first of them by their ids: those that were made through us come before those that the provider made. */
export async function readFirstRefunds({ store }: Readable, order: OrderRef): Promise<readonly Refund[]> {
  const { uuid } = orderKey(order);
  const items = await store.query({
    uuid,
    prefix: refundPrefix(order),
    limit: MAX_REFUNDS,
    newestFirst: false,
  });
  return items.map(readRefund);
}

/**
 * The refunds that any of these may be, by the ids that they bring: their own, and ours in their metadata. Only the provider's
 * id is certain, since metadata can be edited.
 */
export async function readRefundsLike(
  readable: Readable,
  order: OrderRef,
  reported: readonly RefundDetails[],
): Promise<readonly Refund[]> {
  const ids = reported.flatMap(({ providerRefundId, refundId }) =>
    refundId !== undefined && isUlid(refundId) ? [providerRefundId, refundId] : [providerRefundId],
  );
  const keys = ids.map((refundId) => refundKey({ ...order, refundId }));
  const refunds = await readItems(readable, keys, readRefund);
  return refunds.filter((refund) => refund !== undefined);
}

/**
 * The refund of an order's own payment that is told of, if the order knows it already. Few orders have more refunds than one
 * read gives; of those that have, what the provider alone has made is read by its id.
 */
export async function readKnownRefund(
  readable: Readable,
  order: Order,
  details: RefundDetails,
): Promise<Refund | undefined> {
  if (order.refundCount === 0) return undefined;
  const first = await readFirstRefunds(readable, order);
  const known = knownRefund(first, details);
  if (first.length < MAX_REFUNDS || known?.providerRefundId !== undefined) return known;
  const key = refundKey({ ...order, refundId: details.providerRefundId });
  return (await readItem(readable, key, readRefund)) ?? known;
}
