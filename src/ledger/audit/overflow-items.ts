import { type StoredItem, optionalString, readString } from '../kernel/attributes.ts';
import { isId, isTenantId } from '../kernel/id-grammar.ts';
import { type AccountRef, type ItemKey, refundKey } from '../kernel/keys.ts';
import type { Entry } from '../model/entries/entry.ts';
import type { Order, Refund } from '../model/orders/order.ts';
import { readOverflowRefund } from '../items/overflow-refund-item.ts';

/** A refund that its order, being full, doesn't hold itself (src/ledger/model/provider/overflow-refunds.ts). */
export interface OverflowRefund {
  /** The partition of the refund's own item: `stripe#re_…`. */
  readonly item: string;
  readonly orderId: string;
  readonly refund: Refund;
}

const OVERFLOW_TYPE = refundKey('').type;

export function isOverflowRefund(item: StoredItem): boolean {
  return readString(item, 'type') === OVERFLOW_TYPE;
}

/** Throws MalformedItemError. */
export function overflowIn(item: StoredItem): OverflowRefund {
  return {
    item: readString(item, 'uuid'),
    orderId: readString(item, 'order'),
    refund: readOverflowRefund(item),
  };
}

/** Whose refund an item holds; undefined if it names no account, as no release of ours wrote it. */
export function ownerOfOverflow(item: StoredItem): AccountRef | undefined {
  const tenant = optionalString(item, 'tenant') ?? '';
  const accountId = optionalString(item, 'account') ?? '';
  return isTenantId(tenant) && isId(accountId) ? { tenant, accountId } : undefined;
}

/** The items that may hold what the entries of full orders book. */
export function overflowKeys({
  orders,
  entries,
}: {
  readonly orders: readonly Order[];
  readonly entries: readonly Entry[];
}): readonly ItemKey[] {
  const full = new Set(orders.filter(({ overflow }) => overflow !== undefined).map(({ orderId }) => orderId));
  return entries.flatMap(({ operation, orderId, providerId }) =>
    operation === 'REFUND' && providerId !== undefined && full.has(orderId ?? '')
      ? [refundKey(providerId)]
      : [],
  );
}
