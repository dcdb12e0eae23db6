import type { Viewer } from '../../../auth/viewer.ts';
import type { AssetRule, Tenant } from '../../../config/tenants.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { type Currency, currency } from '../../kernel/currencies.ts';
import { type Decimal, ZERO, formatDecimal, subtract } from '../../kernel/money.ts';
import type { Order } from '../../model/orders/order.ts';
import { openOrder } from '../../model/orders/payments.ts';
import { type Stored, type UnstoredOf, invalid } from '../../model/outcomes.ts';
import type { ItemRole } from '../../items/plan.ts';
import type { Ledger } from '../runtime/ledger.ts';
import type { TopUpInput } from './top-up.ts';

/** By what the tenant sells an asset. */
export interface TopUpTerms {
  readonly rule: AssetRule;
  /** What is paid in, one to one. */
  readonly unit: Currency;
}

/** The terms of today; undefined where the asset can't be bought. */
export function topUpTerms({ assets }: Tenant, asset: string): TopUpTerms | undefined {
  const rule = assets.get(asset);
  return rule?.pays === undefined ? undefined : { rule, unit: currency(rule.pays) };
}

/** Why there are none: no asset of the tenant's at all, or one that isn't sold. */
export function notForSale(
  { assets }: Tenant,
  asset: string,
): { readonly kind: 'ANSWER'; readonly failure: UnstoredOf<'InvalidInput'> } {
  const failure = assets.has(asset)
    ? invalid(['asset'], 'wrong_asset', 'not an asset that can be bought')
    : invalid(['asset'], 'unknown_asset', 'not an asset of this tenant');
  return { kind: 'ANSWER', failure };
}

/** The order of a top-up, with nothing paid yet. */
export function openTopUp(
  ledger: Ledger,
  viewer: Viewer,
  accountId: string,
  { amount, asset }: TopUpInput,
  { unit }: TopUpTerms,
  nowMs: number,
): Order {
  return openOrder({
    tenant: viewer.tenant,
    accountId,
    orderId: ledger.ids.ulid(nowMs),
    kind: 'TOP_UP',
    currency: unit.code,
    amount,
    asset,
    lines: [],
    actor: viewer.subject,
    consented: false,
    atMs: nowMs,
  });
}

interface OverCap {
  readonly kind: 'REFUSE';
  readonly outcome: Stored<'CapExceeded'>;
}

/** What it means that a condition on room under the cap failed; undefined: it was another condition. */
export function whenOverCap(
  rule: AssetRule,
): (failed: ReadonlyMap<ItemRole, StoredItem | undefined>) => OverCap | undefined {
  const role = `balance:${rule.asset}` as const;
  return (failed) => (failed.has(role) ? overCap(rule, balanceOf(failed.get(role))) : undefined);
}

/** How much more fits: never below zero, though refunds and card money may stand above the cap. */
export function overCap({ asset, scale, cap }: AssetRule, balance: Decimal): OverCap | undefined {
  if (cap === undefined) return undefined;
  const room = balance.gt(cap) ? ZERO : subtract(cap, balance);
  return {
    kind: 'REFUSE',
    outcome: {
      kind: 'CapExceeded',
      asset,
      cap: formatDecimal(cap, scale),
      room: formatDecimal(room, scale),
    },
  };
}
