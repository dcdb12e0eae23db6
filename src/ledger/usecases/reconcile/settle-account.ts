import { sumPostings } from '../../audit/posted-sums.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { setMetricsToPosted, setToPosted } from '../../items/entry-writes.ts';
import { type PlannedItem, plan } from '../../items/plan.ts';
import { type StoredItem, readString } from '../../kernel/attributes.ts';
import { type AccountRef, PREFIX, assetOfBalanceType, metricsKey, partition } from '../../kernel/keys.ts';
import { type Decimal, ZERO } from '../../kernel/money.ts';
import { METRIC, ledgerAccount } from '../../model/entries/entry.ts';
import { type Ledger, commit } from '../runtime/ledger.ts';
import { readEntriesSince } from '../runtime/read-entries-since.ts';

/** How an account's balances stand once they are what its entries come to. */
export interface SettledAccount {
  /** False where somebody kept writing, or the table couldn't be written. */
  readonly isSettled: boolean;
  /** How many weren't. */
  readonly balances: number;
  /** Whether its entries come to less than nothing, which no balance does. */
  readonly isBelow: boolean;
}

const MAX_READINGS = 5;

/** Brings every balance of an account, and what is counted beside money, to what its entries come to. */
export async function settleAccount(ledger: Ledger, ref: AccountRef): Promise<SettledAccount> {
  for (let readings = 0; readings < MAX_READINGS; readings += 1) {
    const before = await readHeld(ledger, ref);
    const entries = await readEntriesSince(ledger.store, ref, 0);
    const after = await readHeld(ledger, ref);
    if (stamp(before) !== stamp(after)) continue;
    const sums = [...sumPostings(entries).values()];
    const wallet = sums.filter(({ name }) => name === ledgerAccount.wallet(ref.accountId));
    const metrics = sums.filter(({ name }) => name === ledgerAccount.metrics(ref.accountId));
    const changes = [
      ...balanceChanges(ledger, ref, after, wallet),
      ...metricsChanges(ledger, ref, after, metrics),
    ];
    const isBelow = wallet.some(({ sum }) => sum.lt(ZERO));
    if (changes.length === 0) return { isSettled: true, balances: 0, isBelow };
    const result = await commit(ledger, plan(ledger.ids.token(), { items: changes }));
    if (result.kind === 'COMMITTED') return { isSettled: true, balances: changes.length, isBelow };
  }
  return { isSettled: false, balances: 0, isBelow: false };
}

async function readHeld({ store }: Ledger, ref: AccountRef): Promise<readonly StoredItem[]> {
  const uuid = partition(ref.tenant, ref.accountId);
  const balances = await store.query({ uuid, prefix: PREFIX.balance, limit: 1_000, newestFirst: false });
  const [metrics] = await store.get([metricsKey(ref)]);
  return metrics === undefined ? balances : [...balances, metrics];
}

/** Every write of a balance, and of metrics, is counted. */
function stamp(items: readonly StoredItem[]): string {
  return items.map((item) => `${readString(item, 'type')} ${item['writes']?.N ?? ''}`).join('\n');
}

interface Sum {
  readonly asset: string;
  readonly sum: Decimal;
}

function balanceChanges(
  ledger: Ledger,
  ref: AccountRef,
  items: readonly StoredItem[],
  sums: readonly Sum[],
): readonly PlannedItem[] {
  const held = new Map(
    items
      .filter((item) => readString(item, 'type').startsWith(PREFIX.balance))
      .map((item) => [assetOfBalanceType(readString(item, 'type')), balanceOf(item)]),
  );
  const posted = new Map(sums.map(({ asset, sum }) => [asset, sum]));
  return [...new Set([...held.keys(), ...posted.keys()])].flatMap((asset) => {
    const [read, goal] = [held.get(asset) ?? ZERO, posted.get(asset) ?? ZERO];
    const wanted = goal.lt(ZERO) ? ZERO : goal;
    return wanted.eq(read) ? [] : [setToPosted({ ...ref, asset, read, posted: goal }, ledger.clock.nowMs())];
  });
}

function metricsChanges(
  ledger: Ledger,
  ref: AccountRef,
  items: readonly StoredItem[],
  sums: readonly Sum[],
): readonly PlannedItem[] {
  const item = items.find((one) => readString(one, 'type') === 'METRICS');
  const of = (unit: string): Decimal => sums.find(({ asset }) => asset === unit)?.sum ?? ZERO;
  const change = setMetricsToPosted(
    ref,
    item,
    { charged: of(METRIC.charged), co2Kg: of(METRIC.co2Kg) },
    ledger.clock.nowMs(),
  );
  return change === undefined ? [] : [change];
}
