import { type StoredItem, toAttributes } from '../kernel/attributes.ts';
import { mapAt } from '../kernel/codec.ts';
import { type OrderRef, refundKey } from '../kernel/keys.ts';
import type { Refund } from '../model/orders/order.ts';
import { REFUND } from './order-parts.ts';
import type { PlanPart } from './plan.ts';

const OVERFLOW_REFUND = mapAt('refund', REFUND);

/** Writes the refund as it is now, whatever its item said before: the order's condition is its own. */
export function putOverflowRefund({ tenant, accountId, orderId }: OrderRef, refund: Refund): PlanPart {
  const { providerRefundId } = refund;
  if (providerRefundId === undefined)
    throw new RangeError('only what the provider made has an item of its own');
  const Item = toAttributes({
    ...refundKey(providerRefundId),
    tenant,
    account: accountId,
    order: orderId,
    ...OVERFLOW_REFUND.write(refund),
  });
  return { items: [{ role: 'refund', item: { Put: { Item } } }] };
}

/** The refund that an item holds. Throws MalformedItemError. */
export function readOverflowRefund(item: StoredItem): Refund {
  return OVERFLOW_REFUND.read(item);
}
