import type { OrderOwnership } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { readOrder } from '../../items/order-item.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { type OrderRef, orderKey } from '../../kernel/keys.ts';
import type { Order } from '../../model/orders/order.ts';
import type { Store } from '../../table/store.ts';

/** The order in an item that was read; undefined where none was. Throws MalformedItemError. */
export function orderIn(item: StoredItem | undefined): Order | undefined {
  return item === undefined ? undefined : readOrder(item);
}

/**
 * The order in an item that was read, if the viewer may do with it what `may` judges; undefined otherwise: somebody
 * else's order looks like one that isn't there.
 */
export function orderFor(
  viewer: Viewer,
  item: StoredItem | undefined,
  may: (viewer: Viewer, ownership: OrderOwnership) => boolean,
): Order | undefined {
  const order = orderIn(item);
  return order !== undefined && may(viewer, order) ? order : undefined;
}

/** The order as it stands, by a consistent read; undefined if it isn't there. Throws TableUnavailableError. */
export async function readOrderAt(store: Pick<Store, 'get'>, ref: OrderRef): Promise<Order | undefined> {
  const [item] = await store.get([orderKey(ref)]);
  return orderIn(item);
}
