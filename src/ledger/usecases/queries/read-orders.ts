import { maySeeOrder } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { type OrderRef, orderKey } from '../../kernel/keys.ts';
import { readOrder } from '../../items/order-item.ts';
import type { Order } from '../../model/orders/order.ts';
import type { Ledger } from '../runtime/ledger.ts';

/** Up to 100 orders by one consistent read, in the order of `refs`; undefined where there is none or it isn't the viewer's. */
export async function readOrders(
  ledger: Ledger,
  viewer: Viewer,
  refs: readonly OrderRef[],
): Promise<readonly (Order | undefined)[]> {
  const items = await ledger.store.get(refs.map(orderKey));
  return items.map((item) => {
    const order = item === undefined ? undefined : readOrder(item);
    return order !== undefined && maySeeOrder(viewer, order) ? order : undefined;
  });
}
