import type { StoredItem } from '../kernel/attributes.ts';
import { readMap } from '../kernel/attributes.ts';
import { toAttributes } from '../kernel/attributes.ts';
import type { OrderRef } from '../kernel/keys.ts';
import { refundKey } from '../kernel/keys.ts';
import { readRefund } from './order-parts.ts';
import { refundMap } from './order-parts.ts';
import type { Refund } from '../model/orders/order.ts';
import type { PlanPart } from './plan.ts';

/** Writes the refund as it is now, whatever its item said before: the order's condition is its own. */
export function putOverflowRefund({ tenant, accountId, orderId }: OrderRef, refund: Refund): PlanPart {
  const { providerRefundId } = refund;
  if (providerRefundId === undefined) throw new RangeError('only what the provider made is kept aside');
  const Item = toAttributes({
    ...refundKey(providerRefundId),
    tenant,
    account: accountId,
    order: orderId,
    refund: refundMap(refund),
  });
  return { items: [{ role: 'refund', item: { Put: { Item } } }] };
}

/** The refund that an item holds. Throws MalformedItemError. */
export function readOverflowRefund(item: StoredItem): Refund {
  return readRefund(readMap(item, 'refund'));
}
