import type { Tenant } from '../../../config/tenants.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { balanceOf } from '../../items/balance-item.ts';
import type { ItemRole } from '../../items/plan.ts';
import { type Decimal, formatDecimal } from '../../kernel/money.ts';
import type { Order } from '../../model/orders/order.ts';
import { type Stored, type UnstoredOf, invalid } from '../../model/outcomes.ts';

/** A no that sticks to the request's key. */
export interface Refusal<Outcome extends Stored> {
  readonly kind: 'REFUSE';
  readonly outcome: Outcome;
}

/** The items whose conditions refused a transaction, by role, as they stood. */
export type FailedConditions = ReadonlyMap<ItemRole, StoredItem | undefined>;

/** Answered after the idempotency record is read: an asset that has gone since must not break a replay. */
export const UNKNOWN_ASSET = invalid(['asset'], 'unknown_asset', 'not an asset of this tenant');

/** Why an asset has no terms of sale: no asset of the tenant's at all, or one that isn't sold. */
export function notForSale({ assets }: Tenant, asset: string): UnstoredOf<'InvalidInput'> {
  return assets.has(asset)
    ? invalid(['asset'], 'wrong_asset', 'not an asset that can be bought')
    : UNKNOWN_ASSET;
}

export function notPayable({
  accountId,
  orderId,
  state,
}: Pick<Order, 'accountId' | 'orderId' | 'state'>): Stored<'OrderNotPayable'> {
  return { kind: 'OrderNotPayable', accountId, orderId, state };
}

/**
 * What it means that the condition on a debited wallet failed: the wallet holds less than `required`, told in the
 * asset's full scale. Undefined: it was another condition.
 */
export function whenInsufficient(
  { assets }: Tenant,
  asset: string,
  required: Decimal,
): (failed: FailedConditions) => Refusal<Stored<'InsufficientBalance'>> | undefined {
  const role = `balance:${asset}` as const;
  const format = (amount: Decimal): string => formatDecimal(amount, assets.get(asset)?.scale ?? 0);
  return (failed) => {
    if (!failed.has(role)) return undefined;
    const available = format(balanceOf(failed.get(role)));
    return {
      kind: 'REFUSE',
      outcome: { kind: 'InsufficientBalance', asset, required: format(required), available },
    };
  };
}
