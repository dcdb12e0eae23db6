import { type StoredItem, optionalString } from '../ledger/kernel/attributes.ts';
import { balanceOf } from '../ledger/items/balance-item.ts';
import type { AccountRef } from '../ledger/kernel/keys.ts';
import { type Decimal, ZERO, add, plainDecimal } from '../ledger/kernel/money.ts';
import { type Migration, hasMoved, heldAmount, heldProfile } from './legacy-record.ts';

/** Where the two shapes of a record don't say the same. Of a profile only the field is named, never what it holds. */
export interface RecordDifference extends AccountRef {
  readonly kind: 'UNMOVED' | 'BALANCE' | 'PROFILE' | 'WITHOUT_RECORD' | 'UNSETTLED';
  /** The asset or the field. */
  readonly of?: string;
  readonly old?: string;
  readonly new?: string;
}

/** One asset of one tenant in both shapes, over the records that have moved. */
interface ParityTotal<Amount> {
  readonly tenant: string;
  readonly asset: string;
  readonly accounts: number;
  readonly old: Amount;
  readonly new: Amount;
  readonly differences: number;
}

export interface ParityReport {
  readonly records: number;
  readonly unmoved: number;
  /** All that keeps the shapes apart, unmoved records left out. */
  readonly differences: number;
  /** Amounts are plain decimals. */
  readonly totals: readonly ParityTotal<string>[];
  /** The first differences, unmoved records among them. */
  readonly listed: readonly RecordDifference[];
}

/** One record compared: what it holds in each shape, if it has moved, and where they differ. */
export interface RecordParity {
  readonly amounts: readonly { readonly asset: string; readonly old: Decimal; readonly new: Decimal }[];
  readonly differences: readonly RecordDifference[];
}

/** Compares a record with its items in the new shape, read while it didn't change and in the order of `newKeys`. */
export function compare(
  migration: Migration,
  { tenant, accountId }: AccountRef,
  record: StoredItem,
  items: readonly (StoredItem | undefined)[],
): RecordParity {
  const account = { tenant, accountId };
  if (!hasMoved(migration, record)) return { amounts: [], differences: [{ kind: 'UNMOVED', ...account }] };
  const amounts = Object.keys(migration.amounts).map((asset, index) => ({
    asset,
    old: heldAmount(migration, record, asset) ?? ZERO,
    new: balanceOf(items[index]),
  }));
  const balances = amounts
    .filter((amount) => !amount.old.eq(amount.new))
    .map((amount) => ({ asset: amount.asset, old: plainDecimal(amount.old), new: plainDecimal(amount.new) }));
  const oldProfile = heldProfile(migration, record);
  const newProfile = items[amounts.length] ?? {};
  const fields = Object.keys(migration.profile).filter(
    (field) => optionalString(oldProfile, field) !== optionalString(newProfile, field),
  );
  return {
    amounts,
    differences: [
      ...balances.map(({ asset, ...values }) => ({
        kind: 'BALANCE' as const,
        ...account,
        of: asset,
        ...values,
      })),
      ...fields.map((field) => ({ kind: 'PROFILE' as const, ...account, of: field })),
    ],
  };
}

const MAX_LISTED = 100;

/** Gathers what a comparison of the whole table finds. */
export class ParityFindings {
  readonly #counts = { records: 0, unmoved: 0, differences: 0 };
  readonly #totals = new Map<string, ParityTotal<Decimal>>();
  readonly #listed: RecordDifference[] = [];

  add({ tenant }: AccountRef, { amounts, differences }: RecordParity): void {
    this.#counts.records += 1;
    this.list(differences);
    for (const { asset, ...amount } of amounts) {
      const key = `${tenant}#${asset}`;
      const total = this.#totals.get(key);
      this.#totals.set(key, {
        tenant,
        asset,
        accounts: (total?.accounts ?? 0) + 1,
        old: add(total?.old ?? ZERO, amount.old),
        new: add(total?.new ?? ZERO, amount.new),
        differences: (total?.differences ?? 0) + (amount.old.eq(amount.new) ? 0 : 1),
      });
    }
  }

  list(differences: readonly RecordDifference[]): void {
    for (const difference of differences) {
      this.#counts[difference.kind === 'UNMOVED' ? 'unmoved' : 'differences'] += 1;
      if (this.#listed.length < MAX_LISTED) this.#listed.push(difference);
    }
  }

  report(): ParityReport {
    const totals = [...this.#totals]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, total]) => ({ ...total, old: plainDecimal(total.old), new: plainDecimal(total.new) }));
    return { ...this.#counts, totals, listed: this.#listed };
  }
}
