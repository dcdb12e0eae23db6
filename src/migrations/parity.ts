import { type StoredItem, optionalDecimal, optionalString } from '../ledger/kernel/attributes.ts';
import { type AccountRef, type ItemKey, balanceKey, profileKey } from '../ledger/kernel/keys.ts';
import { type Decimal, ZERO, add, plainDecimal } from '../ledger/kernel/money.ts';
import { hasMoved, heldAmount, profileAttributes } from './legacy-record.ts';
import type { LegacyShape } from './migration.ts';

/** Where the two shapes of a record don't say the same. Of a profile only the field is named, never what it holds. */
export interface Difference extends AccountRef {
  readonly kind: 'UNMOVED' | 'BALANCE' | 'PROFILE' | 'WITHOUT_RECORD' | 'UNSETTLED';
  /** The asset or the field. */
  readonly of?: string;
  readonly old?: string;
  readonly new?: string;
}

/** One asset of one tenant in both shapes, over the records that have moved. */
export interface ParityTotal {
  readonly tenant: string;
  readonly asset: string;
  readonly accounts: number;
  readonly old: string;
  readonly new: string;
  readonly differences: number;
}

export interface RecordParity {
  readonly account: AccountRef;
  readonly moved: boolean;
  readonly amounts: readonly { readonly asset: string; readonly old: Decimal; readonly new: Decimal }[];
  readonly differences: readonly Difference[];
}

/** What a record is compared with. */
export function counterparts(shape: LegacyShape, account: AccountRef): readonly ItemKey[] {
  return [
    ...Object.keys(shape.amounts).map((asset) => balanceKey({ ...account, asset })),
    ...(Object.keys(shape.profile).length === 0 ? [] : [profileKey(account)]),
  ];
}

/** Compares a record with its counterparts, read while it didn't change and in the order of `counterparts`. */
export function compare(
  shape: LegacyShape,
  account: AccountRef,
  record: StoredItem,
  items: readonly (StoredItem | undefined)[],
): RecordParity {
  const { tenant, accountId } = account;
  if (!hasMoved(shape, record)) {
    return { account, moved: false, amounts: [], differences: [{ kind: 'UNMOVED', tenant, accountId }] };
  }
  const amounts = Object.keys(shape.amounts).map((asset, index) => {
    const item = items[index];
    return {
      asset,
      old: heldAmount(shape, record, asset) ?? ZERO,
      new: (item === undefined ? undefined : optionalDecimal(item, 'balance')) ?? ZERO,
    };
  });
  const differing = amounts.filter((amount) => !amount.old.eq(amount.new));
  return {
    account,
    moved: true,
    amounts,
    differences: [
      ...differing.map((amount) => ({
        kind: 'BALANCE' as const,
        tenant,
        accountId,
        of: amount.asset,
        old: plainDecimal(amount.old),
        new: plainDecimal(amount.new),
      })),
      ...differingFields(shape, record, items[amounts.length] ?? {}).map((field) => ({
        kind: 'PROFILE' as const,
        tenant,
        accountId,
        of: field,
      })),
    ],
  };
}

function differingFields(shape: LegacyShape, record: StoredItem, profile: StoredItem): readonly string[] {
  const old = profileAttributes(shape, record);
  return Object.keys(shape.profile).filter(
    (field) => optionalString(old, field) !== optionalString(profile, field),
  );
}

/** Gathers comparisons into one line a tenant and asset. */
export class ParityTotals {
  readonly #sums = new Map<
    string,
    { tenant: string; asset: string; accounts: number; old: Decimal; new: Decimal; differences: number }
  >();

  add({ account, amounts }: RecordParity): void {
    for (const amount of amounts) {
      const { tenant } = account;
      const key = `${tenant}#${amount.asset}`;
      const sum = this.#sums.get(key) ?? {
        tenant,
        asset: amount.asset,
        accounts: 0,
        old: ZERO,
        new: ZERO,
        differences: 0,
      };
      this.#sums.set(key, {
        ...sum,
        accounts: sum.accounts + 1,
        old: add(sum.old, amount.old),
        new: add(sum.new, amount.new),
        differences: sum.differences + (amount.old.eq(amount.new) ? 0 : 1),
      });
    }
  }

  printed(): readonly ParityTotal[] {
    return [...this.#sums]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, sum]) => ({ ...sum, old: plainDecimal(sum.old), new: plainDecimal(sum.new) }));
  }
}
