import { type AttributeValue, toAttribute, toAttributes } from '../kernel/attributes.ts';
import type { DuePolicy } from '../model/orders/due.ts';
import { integer } from '../kernel/integers.ts';
import { type OrderRef, orderKey } from '../kernel/keys.ts';
import type { Decimal } from '../kernel/money.ts';
import { newTransitions } from '../model/orders/order-changes.ts';
import { orderAttributes } from './order-item.ts';
import type { Order } from '../model/orders/order.ts';
import { type PlanPart, putNew } from './plan.ts';

export function putOrder(order: Order, policy: DuePolicy): PlanPart {
  return {
    items: [putNew('order', orderAttributes(order, policy))],
    orders: [{ order, transitions: newTransitions(undefined, order) }],
  };
}

/**
 * Writes what changed of an order, on the condition that nobody else wrote it since it was read. Attributes that this
 * code doesn't know are left alone, so that a fleet of two versions loses none. With `refundableAtLeast` the database
 * judges the refund's bound too.
 */
export function updateOrder(
  before: Order,
  after: Order,
  policy: DuePolicy,
  refundableAtLeast?: Decimal,
): PlanPart {
  const old = toAttributes(orderAttributes(before, policy));
  const now = toAttributes(orderAttributes(after, policy));
  const changed = Object.keys(now).filter((name) => JSON.stringify(now[name]) !== JSON.stringify(old[name]));
  const gone = Object.keys(old).filter((name) => !(name in now));
  const values: Record<string, AttributeValue> = { ':before': toAttribute(integer(before.rev)) };
  for (const name of changed) values[`:${name}`] = now[name] ?? { S: '' };
  const bound = refundableAtLeast === undefined ? '' : ' AND #refundable >= :needed';
  if (refundableAtLeast !== undefined) values[':needed'] = toAttribute(refundableAtLeast);
  const named = new Set([...changed, ...gone, 'rev', ...(bound === '' ? [] : ['refundable'])]);
  const removal = gone.length === 0 ? '' : ` REMOVE ${gone.map((name) => `#${name}`).join(', ')}`;
  return {
    items: [
      {
        role: 'order',
        item: {
          Update: {
            Key: toAttributes({ ...orderKey(before) }),
            UpdateExpression: `SET ${changed.map((name) => `#${name} = :${name}`).join(', ')}${removal}`,
            ConditionExpression: `#rev = :before${bound}`,
            ExpressionAttributeNames: Object.fromEntries([...named].map((name) => [`#${name}`, name])),
            ExpressionAttributeValues: values,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      },
    ],
    orders: [{ order: after, transitions: newTransitions(before, after) }],
  };
}

/** Checks that nobody wrote the order since it was read. */
export function checkOrder(order: OrderRef & { readonly rev: number }): PlanPart {
  return {
    items: [
      {
        role: 'order',
        item: {
          ConditionCheck: {
            Key: toAttributes({ ...orderKey(order) }),
            ConditionExpression: '#rev = :before',
            ExpressionAttributeNames: { '#rev': 'rev' },
            ExpressionAttributeValues: { ':before': toAttribute(integer(order.rev)) },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      },
    ],
  };
}
