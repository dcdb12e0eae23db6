import { type StoredItem, readKeyParts, toAttribute, toAttributes } from '../kernel/attributes.ts';
import {
  type Fields,
  decimalAt,
  integerAt,
  oneOfAt,
  optionalField,
  record,
  textAt,
} from '../kernel/codec.ts';
import { integer } from '../kernel/integers.ts';
import { PREFIX, type RefundRef, refundKey } from '../kernel/keys.ts';
import type { Refund } from '../model/orders/order.ts';
import type { RefundChange } from '../model/orders/refunds.ts';
import type { Condition, PlanPart } from './plan.ts';

/** Every field of a refund but those of its key, by the name that it is stored under. */
const FIELDS: Fields<Omit<Refund, keyof RefundRef>> = {
  state: oneOfAt('state', ['PENDING', 'SUCCEEDED', 'FAILED']),
  rev: integerAt('rev'),
  amount: decimalAt('amount'),
  source: oneOfAt('origin', ['REQUESTED', 'DASHBOARD']),
  reason: optionalField(textAt('reason')),
  failureReason: optionalField(textAt('failure')),
  actor: textAt('actor'),
  createdAtMs: integerAt('created'),
  paymentId: optionalField(textAt('payment')),
  providerRefundId: optionalField(textAt('provider')),
  entryId: optionalField(textAt('entry')),
  tries: optionalField(integerAt('tries')),
  triedAtMs: optionalField(integerAt('tried')),
  lookedAtMs: optionalField(integerAt('looked')),
};
const REFUND = record(FIELDS);

/**
 * Writes a refund with its order, whose `rev` guards it. It has a condition of its own besides: it may have been read
 * together with the order, and such a read is none of one moment.
 */
export function putRefund({ order, refund }: RefundChange): PlanPart {
  const Item = toAttributes({ ...refundKey(refund), ...REFUND.write({ ...refund, rev: order.rev }) });
  return { items: [{ role: 'refund', item: { Put: { Item, ...unchanged(refund) } } }] };
}

/** Takes a refund away that was never made. */
export function deleteRefund(refund: Refund): PlanPart {
  const Key = toAttributes({ ...refundKey(refund) });
  return { items: [{ role: 'refund', item: { Delete: { Key, ...unchanged(refund) } } }] };
}

/** Nobody wrote the refund since it was read; one that was never written isn't there. */
function unchanged({ rev }: Refund): Condition {
  const condition =
    rev === 0
      ? { ConditionExpression: 'attribute_not_exists(#rev)' }
      : {
          ConditionExpression: '#rev = :read',
          ExpressionAttributeValues: { ':read': toAttribute(integer(rev)) },
        };
  return {
    ...condition,
    ExpressionAttributeNames: { '#rev': 'rev' },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** Reads a refund item. Throws MalformedItemError for what this code could not have written. */
export function readRefund(item: StoredItem): Refund {
  const [tenant, accountId, name] = readKeyParts(item, PREFIX.refund);
  const [orderId = '', refundId = ''] = name.split('#');
  return { tenant, accountId, orderId, refundId, ...REFUND.read(item) };
}
