import { type StoredItem, optionalString, readString } from '../attributes.ts';
import { isId, isTenantId } from '../id-grammar.ts';
import { type AccountRef, type ItemKey, refundKey } from '../keys.ts';
import type { AccountItems } from './audit.ts';
import type { Refund } from '../orders/order.ts';
import { readRefundAside } from '../provider/refunds-aside.ts';

/** A refund that its order, being full, doesn't hold itself (src/ledger/provider/refunds-aside.ts). */
export interface AsideRefund {
  /** The partition of the refund's own item: `stripe#re_…`. */
  readonly item: string;
  readonly orderId: string;
  readonly refund: Refund;
}

const ASIDE_TYPE = refundKey('').type;

export function isRefundAside(item: StoredItem): boolean {
  return readString(item, 'type') === ASIDE_TYPE;
}

/** Throws MalformedItemError. */
export function asideIn(item: StoredItem): AsideRefund {
  return {
    item: readString(item, 'uuid'),
    orderId: readString(item, 'order'),
    refund: readRefundAside(item),
  };
}

/** Whose refund an item holds; undefined if it names no account, as no release of ours wrote it. */
export function ownerOfAside(item: StoredItem): AccountRef | undefined {
  const tenant = optionalString(item, 'tenant') ?? '';
  const accountId = optionalString(item, 'account') ?? '';
  return isTenantId(tenant) && isId(accountId) ? { tenant, accountId } : undefined;
}

/** The items that may hold what the entries of full orders book. */
export function asideKeys({ orders, entries }: Pick<AccountItems, 'orders' | 'entries'>): readonly ItemKey[] {
  const full = new Set(orders.filter(({ aside }) => aside !== undefined).map(({ orderId }) => orderId));
  return entries.flatMap(({ operation, orderId, providerId }) =>
    operation === 'REFUND' && providerId !== undefined && full.has(orderId ?? '')
      ? [refundKey(providerId)]
      : [],
  );
}
