import type { AttributeInput } from '../../src/ledger/kernel/attributes.ts';
import { toAttributes } from '../../src/ledger/kernel/attributes.ts';
import { METRIC, entryAttributes, ledgerAccount, postings } from '../../src/ledger/model/entries/entry.ts';
import type { Ids } from '../../src/ledger/kernel/ids.ts';
import { integer } from '../../src/ledger/kernel/integers.ts';
import { type AccountRef, partition } from '../../src/ledger/kernel/keys.ts';
import { decimal } from '../../src/ledger/kernel/money.ts';
import { type PlannedItem, plan, putNew } from '../../src/ledger/items/plan.ts';
import type { Transactor } from '../../src/ledger/table/transact.ts';
import { seededFractions } from './seeded.ts';

/** An account as a release before the migration left it: what it holds, and the items that say so. */
export interface LegacyAccount extends AccountRef {
  /** Asset → balance, as plain decimals; absent where it never had any. */
  readonly amounts: Readonly<Record<string, string>>;
  readonly profile: LegacyProfile;
  readonly items: readonly PlannedItem[];
}

export interface LegacyProfile {
  readonly displayName?: string;
  readonly email?: string;
  readonly phoneNumber?: string;
}

export interface LegacyOptions {
  readonly tenant?: string;
  readonly count: number;
  readonly seed: number;
  readonly atMs: number;
}

const NAMES = ['山田 花子', "Seán O'Brien", 'Zoë', '  two  spaces  ', 'x'.repeat(100)];

/** Customer items that hold everything of an account together, in every shape that releases have left behind. */
export function legacyCustomers({
  tenant = 'demo',
  count,
  seed,
  atMs,
}: LegacyOptions): readonly LegacyAccount[] {
  const fraction = seededFractions(seed);
  return Array.from({ length: count }, (_, index) => {
    const accountId = `legacy-${seed}-${index}`;
    const amounts = someAmounts(fraction, index);
    const profile = someProfile(fraction, index);
    const item = putNew('other', {
      uuid: partition(tenant, accountId),
      type: 'CUSTOMER',
      ecopay: amountAttribute(amounts, 'ECOPAY'),
      point: amountAttribute(amounts, 'POINT'),
      jcredit: amountAttribute(amounts, 'JCREDIT'),
      name: profile.displayName,
      mail: profile.email,
      phone: profile.phoneNumber,
      // The oldest releases counted no writes and kept no time; another kept what no migration knows of.
      writes: index % 3 === 0 ? undefined : integer(Math.floor(fraction() * 1_000)),
      updated_at: index % 4 === 0 ? undefined : integer(atMs - 86_400_000),
      loyalty_tier: index % 5 === 0 ? 'gold' : undefined,
    });
    return { tenant, accountId, amounts, profile, items: [item] };
  });
}

/** METRICS items that hold points and credits beside the metrics, which have their entries. */
export function legacyMetrics(
  { tenant = 'demo', count, seed, atMs }: LegacyOptions,
  ids: Ids,
): readonly LegacyAccount[] {
  const fraction = seededFractions(seed);
  return Array.from({ length: count }, (_, index) => {
    const accountId = `metrics-${seed}-${index}`;
    const { POINT, JCREDIT } = someAmounts(fraction, index);
    const amounts: Record<string, string> = {
      ...(POINT === undefined ? {} : { POINT }),
      ...(JCREDIT === undefined ? {} : { JCREDIT }),
    };
    const charged = decimal(String(100 + Math.floor(fraction() * 10_000)));
    const metrics = ledgerAccount.metrics(accountId);
    const item = putNew('other', {
      uuid: partition(tenant, accountId),
      type: 'METRICS',
      charged_total: charged,
      co2_reduction_kg: decimal('0'),
      points: amountAttribute(amounts, 'POINT'),
      jcredit: amountAttribute(amounts, 'JCREDIT'),
      writes: index % 3 === 0 ? undefined : integer(1),
      updated_at: integer(atMs - 86_400_000),
    });
    const entry = putNew(
      'entry',
      entryAttributes({
        tenant,
        accountId,
        entryId: ids.ulid(atMs),
        operation: 'ADJUSTMENT',
        postings: postings({
          debit: ledgerAccount.issuer,
          credit: metrics,
          asset: METRIC.charged,
          amount: charged,
        }),
        actor: 'root',
        atMs,
      }),
    );
    return { tenant, accountId, amounts, profile: {}, items: [item, entry] };
  });
}

/** Rows of the old history, which says of each movement when it was, of which kind, and of how much. */
export function legacyHistoryRow(
  { tenant, accountId }: AccountRef,
  row: { readonly atMs: number; readonly kind: string; readonly asset: string; readonly amount: string },
): PlannedItem {
  return putNew('other', {
    uuid: partition(tenant, accountId),
    type: `HISTORY#${String(row.atMs).padStart(15, '0')}#${row.kind}#${row.asset}`,
    kind: row.kind,
    asset: row.asset,
    amount: decimal(row.amount),
    at: integer(row.atMs),
  });
}

/** Puts the items of legacy accounts into a table, as if they had always been there. */
export async function seedLegacy(
  transactor: Transactor,
  ids: Ids,
  accounts: readonly Pick<LegacyAccount, 'items'>[],
): Promise<void> {
  const items = accounts.flatMap((account) => account.items);
  for (let start = 0; start < items.length; start += 50) {
    const result = await transactor.commit(plan(ids.token(), { items: items.slice(start, start + 50) }));
    if (result.kind !== 'COMMITTED') throw new Error(`not seeded: ${result.kind}`);
  }
}

/** An item's attributes on the wire, for tests of pure builders. */
export function storedItem(
  attributes: Readonly<Record<string, AttributeInput | undefined>>,
): ReturnType<typeof toAttributes> {
  return toAttributes(attributes);
}

function someAmounts(fraction: () => number, index: number): Readonly<Record<string, string>> {
  const amount = (limit: number): string => String(Math.floor(fraction() * limit));
  const [ecopay, point, jcredit] = [amount(20_000), amount(500), amount(300)];
  switch (index % 6) {
    case 0:
      return { ECOPAY: ecopay };
    case 1:
      return { ECOPAY: '0', POINT: '0', JCREDIT: '0' };
    case 2:
      return { POINT: point, JCREDIT: `${jcredit}.05` };
    case 3:
      return {};
    default:
      return { ECOPAY: ecopay, POINT: point, JCREDIT: `${jcredit}.5` };
  }
}

function someProfile(fraction: () => number, index: number): LegacyProfile {
  if (index % 7 === 3) return {};
  const digits = String(10_000_000 + Math.floor(fraction() * 89_999_999));
  return {
    displayName: NAMES[index % NAMES.length] ?? 'Zoë',
    ...(index % 2 === 0 ? { email: `customer-${index}@shop.example` } : {}),
    ...(index % 3 === 0 ? { phoneNumber: `+8190${digits}` } : {}),
  };
}

function amountAttribute(
  amounts: Readonly<Record<string, string>>,
  asset: string,
): ReturnType<typeof decimal> | undefined {
  const text = amounts[asset];
  return text === undefined ? undefined : decimal(text);
}
