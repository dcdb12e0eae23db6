import { maySeeBalances, maySeeHistory } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import {
  type StoredItem,
  optionalDecimal,
  optionalInteger,
  optionalString,
} from '../../kernel/attributes.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { type AccountRef, type BalanceRef, balanceKey, metricsKey, profileKey } from '../../kernel/keys.ts';
import { type Decimal, ZERO } from '../../kernel/money.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';

/** A balance as it stands. One that nothing was ever booked on is zero, and was never updated. */
export interface Balance extends BalanceRef {
  readonly amount: Decimal;
  readonly updatedAtMs?: number | undefined;
}

export interface Profile {
  readonly displayName: string | undefined;
  readonly email: string | undefined;
  readonly phoneNumber: string | undefined;
}

export interface AccountMetrics {
  readonly chargedTotal: Decimal;
  readonly co2ReductionKg: Decimal;
}

/** Up to 100 balances by one consistent read, in the order of `refs`; undefined where the viewer may not see them. */
export async function readBalances(
  ledger: Ledger,
  viewer: Viewer,
  refs: readonly BalanceRef[],
): Promise<readonly (Balance | undefined)[]> {
  const items = await ledger.store.get(refs.map(balanceKey));
  return refs.map((ref, index) =>
    maySeeBalances(viewer, ref.tenant, ref.accountId) ? toBalance(ref, items[index]) : undefined,
  );
}

function toBalance({ tenant, accountId, asset }: BalanceRef, item: StoredItem | undefined): Balance {
  const updatedAtMs = item === undefined ? undefined : optionalInteger(item, 'updated_at');
  return { tenant, accountId, asset, amount: balanceOf(item), updatedAtMs };
}

/** The assets that every account of a tenant has a balance of, in the order of the tenant's file. */
export function assetsOf(ledger: Ledger, tenant: string): readonly string[] {
  return [...tenantOf(ledger, tenant).assets.keys()];
}

/** Undefined where the viewer may not see it; else what is known of the account, which may be nothing. */
export async function readProfiles(
  ledger: Ledger,
  viewer: Viewer,
  refs: readonly AccountRef[],
): Promise<readonly (Profile | undefined)[]> {
  const seen = refs.filter(({ tenant, accountId }) => maySeeHistory(viewer, tenant, accountId));
  const items = await ledger.store.get(seen.map(profileKey));
  return refs.map((ref) => {
    const index = seen.indexOf(ref);
    if (index === -1) return undefined;
    const item = items[index] ?? {};
    return {
      displayName: optionalString(item, 'display_name'),
      email: optionalString(item, 'email'),
      phoneNumber: optionalString(item, 'phone_number'),
    };
  });
}

/** What the charges of the account came to; undefined where the viewer may not see it. */
export async function readMetrics(
  ledger: Ledger,
  viewer: Viewer,
  refs: readonly AccountRef[],
): Promise<readonly (AccountMetrics | undefined)[]> {
  const seen = refs.filter(({ tenant, accountId }) => maySeeHistory(viewer, tenant, accountId));
  const items = await ledger.store.get(seen.map(metricsKey));
  return refs.map((ref) => {
    const index = seen.indexOf(ref);
    if (index === -1) return undefined;
    const item = items[index] ?? {};
    return {
      chargedTotal: optionalDecimal(item, 'charged_total') ?? ZERO,
      co2ReductionKg: optionalDecimal(item, 'co2_reduction_kg') ?? ZERO,
    };
  });
}
