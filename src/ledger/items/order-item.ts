import { type AttributeInput, type StoredItem, readKeyParts } from '../kernel/attributes.ts';
import {
  type Attributes,
  decimalAt,
  decimalUnlessZeroAt,
  flagAt,
  integerAt,
  integerUnlessZeroAt,
  listAt,
  listUnlessEmptyAt,
  mapAt,
  oneOfAt,
  optionalField,
  record,
  textAt,
} from '../kernel/codec.ts';
import { integer } from '../kernel/integers.ts';
import { type ItemKey, type OrderRef, PREFIX, orderKey, partition } from '../kernel/keys.ts';
import { type DuePolicy, dueAtMs, dueShard } from '../model/orders/due.ts';
import { ORDER_STATES } from '../model/orders/order-states.ts';
import type { Order } from '../model/orders/order.ts';
import {
  ATTEMPT,
  CHECKS,
  DISPUTE,
  LINE,
  OVERPAYMENT,
  PAYMENT,
  REFUND_CLAIM,
  STEP,
  TRANSITION,
  VOUCHER,
} from './order-parts.ts';

/** Every field of an order but those of its key, by the name that it is stored under. A new field is one line. */
const ORDER = record<Omit<Order, keyof OrderRef>>({
  kind: oneOfAt('kind', ['PURCHASE', 'TOP_UP']),
  state: oneOfAt('state', ORDER_STATES),
  version: integerAt('version'),
  rev: integerAt('rev'),
  // The partition of the merchant's list, and so with the tenant before it.
  merchantId: optionalField(textAt('merchant')),
  createdAtMs: integerAt('created'),
  updatedAtMs: integerAt('updated'),
  currency: textAt('currency'),
  amount: decimalAt('amount'),
  asset: optionalField(textAt('asset')),
  actor: textAt('actor'),
  consented: flagAt('consented'),
  reference: optionalField(textAt('reference')),
  hasMetadata: flagAt('has_metadata'),
  payment: optionalField(mapAt('payment', PAYMENT)),
  refundable: decimalUnlessZeroAt('refundable'),
  refunded: decimalUnlessZeroAt('refunded'),
  refundPending: decimalUnlessZeroAt('refund_pending'),
  receivable: decimalUnlessZeroAt('owed'),
  lines: listUnlessEmptyAt('lines', LINE),
  attempts: listUnlessEmptyAt('attempts', ATTEMPT),
  refundCount: integerUnlessZeroAt('refunds'),
  pendingRefundCount: integerUnlessZeroAt('refunds_pending'),
  refundClaims: listUnlessEmptyAt('refund_claims', REFUND_CLAIM),
  disputes: listUnlessEmptyAt('disputes', DISPUTE),
  overpayments: listUnlessEmptyAt('surplus', OVERPAYMENT),
  steps: listUnlessEmptyAt('steps', STEP),
  voucher: optionalField(mapAt('slip', VOUCHER)),
  checks: optionalField(mapAt('checks', CHECKS)),
  timeline: listAt('timeline', TRANSITION),
  unlistedNotes: integerUnlessZeroAt('unlisted'),
});

/** An order as the table holds it, the index attributes included; what is empty or zero is left out, to stay small. */
export function orderAttributes(order: Order, policy: DuePolicy): ItemKey & Attributes {
  const { tenant, merchantId } = order;
  const merchant = merchantId === undefined ? {} : { merchantId: partition(tenant, merchantId) };
  return { ...orderKey(order), ...ORDER.write({ ...order, ...merchant }), ...indexAttributes(order, policy) };
}

/** Reads an order item. Throws MalformedItemError for what this code could not have written. */
export function readOrder(item: StoredItem): Order {
  const [tenant, accountId, orderId] = readKeyParts(item, PREFIX.order);
  const { merchantId, ...fields } = ORDER.read(item);
  const merchant = merchantId === undefined ? {} : { merchantId: merchantId.slice(tenant.length + 1) };
  return { tenant, accountId, orderId, ...fields, ...merchant };
}

/** Present while the order waits for its next check, and while a step of it needs an operator. */
function indexAttributes(order: Order, policy: DuePolicy): Readonly<Record<string, AttributeInput>> {
  const dueMs = dueAtMs(order, policy);
  const isDead = order.steps.some((step) => step.state === 'DEAD');
  return {
    ...(dueMs === undefined ? {} : { due_shard: dueShard(order), due_at: integer(dueMs) }),
    ...(isDead ? { listed: `dead#${order.tenant}`, listed_at: integer(order.updatedAtMs) } : {}),
  };
}
