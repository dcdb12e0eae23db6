import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { entryAttributes, ledgerAccount, postings } from '../../../src/ledger/model/entries/entry.ts';
import type { Ids } from '../../../src/ledger/kernel/ids.ts';
import { type AccountRef, balanceKey } from '../../../src/ledger/kernel/keys.ts';
import { decimal, plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { type PlannedItem, putNew } from '../../../src/ledger/items/plan.ts';
import { type Movement, readHistory } from '../../../src/migrations/history.ts';
import { BACKFILL_ACTOR } from '../../../src/migrations/move.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { legacyHistoryRow, seedLegacy } from '../../support/legacy-records.ts';
import { propertySettings } from '../../support/property-settings.ts';

const { runs, seed } = propertySettings();
const HISTORIES = Math.ceil(runs / 20);

const ASSETS = ['ECOPAY', 'POINT', 'JCREDIT'] as const;
const instant = fc.nat({ max: 4 });
const amounts = fc.uniqueArray(fc.tuple(fc.constantFrom(...ASSETS), fc.integer({ min: 1, max: 99 })), {
  selector: ([asset]) => asset,
  maxLength: 3,
});
const entry = fc.record({
  at: instant,
  /** By how much its id is ahead of it: a request that was overtaken while it ran. */
  lead: fc.constantFrom(0, 0, 0, 1, 3),
  kind: fc.constantFrom('ADJUSTMENT' as const, 'TOP_UP' as const),
  isOpening: fc.constantFrom(false, false, false, true),
  amounts,
});
const row = fc.record({
  at: instant,
  kind: fc.constantFrom('ADJUSTMENT', 'TOP_UP', 'BONUS'),
  asset: fc.constantFrom(...ASSETS),
  amount: fc.integer({ min: 100, max: 199 }),
});
const history = fc.record({
  entries: fc.array(entry, { maxLength: 14 }),
  rows: fc.uniqueArray(row, { selector: ({ at, kind, asset }) => `${at} ${kind} ${asset}`, maxLength: 14 }),
  pageSize: fc.integer({ min: 1, max: 7 }),
});

type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

let harness: Harness;
let accounts = 0;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterAll(() => {
  harness.close();
});

function entryItem(
  account: AccountRef,
  ids: Ids,
  startMs: number,
  one: History['entries'][number],
): PlannedItem {
  const wallet = ledgerAccount.wallet(account.accountId);
  return putNew(
    'entry',
    entryAttributes({
      ...account,
      entryId: ids.ulid(startMs + one.at + one.lead),
      operation: one.kind,
      postings: postings(
        ...one.amounts.map(([asset, amount]) => ({
          debit: ledgerAccount.issuer,
          credit: wallet,
          asset,
          amount: decimal(String(amount)),
        })),
      ),
      actor: one.isOpening ? BACKFILL_ACTOR : 'root',
      atMs: startMs + one.at,
    }),
  );
}

/** What must be told: by every entry but an opening one, and by each row of which no entry tells. */
function expected({ uuid }: Pick<Movement, 'uuid'>, { entries, rows }: History): readonly string[] {
  const merged = entries
    .filter(({ isOpening }) => !isOpening)
    .flatMap(({ at, kind, amounts: all }) => all.map(([asset, amount]) => ({ at, kind, asset, amount })));
  const ofRows = rows.filter(
    ({ at, kind, asset }) => !merged.some((one) => one.at === at && one.kind === kind && one.asset === asset),
  );
  return [...merged, ...ofRows]
    .map(({ at, kind, asset, amount }) => `${uuid} BALANCE#${asset} ${at} ${kind} ${amount}`)
    .sort();
}

async function play(made: History): Promise<void> {
  accounts += 1;
  const account = { tenant: 'demo', accountId: `history-${accounts}` };
  const { store, transactor, ids } = harness.ledger;
  const startMs = harness.clock.nowMs();
  const items = [
    ...[...made.entries]
      // Ids of one process only grow.
      .sort((one, other) => one.at + one.lead - (other.at + other.lead))
      .map((one) => entryItem(account, ids, startMs, one)),
    ...made.rows.map(({ at, kind, asset, amount }) =>
      legacyHistoryRow(account, { atMs: startMs + at, kind, asset, amount: String(amount) }),
    ),
  ];
  await seedLegacy(transactor, ids, [{ items }]);
  harness.clock.advance(1_000);

  const pages: (readonly Movement[])[] = [];
  let before: Movement | undefined;
  do {
    const page = await readHistory(store, account, { limit: made.pageSize, before });
    pages.push(page);
    before = page.at(-1);
  } while (pages.at(-1)?.length === made.pageSize);
  const all = pages.flat();
  const { uuid } = balanceKey({ ...account, asset: 'ECOPAY' });
  const merged = all.map(
    ({ type, atMs, kind, amount }) => `${uuid} ${type} ${atMs - startMs} ${kind} ${plainDecimal(amount)}`,
  );
  expect([...merged].sort()).toEqual(expected({ uuid }, made));
  expect(all.map(({ keyMs }) => keyMs)).toEqual(
    all.map(({ keyMs }) => keyMs).sort((one, other) => other - one),
  );
  expect(await readHistory(store, account, { limit: 1_000 })).toEqual(all);
}

describe(`pages of a history (PROPERTY_SEED=${seed} PROPERTY_RUNS=${runs})`, () => {
  it(
    'are the whole of both histories when put together, nothing lost and nothing told twice',
    { timeout: 60_000 + runs * 200 },
    async () => {
      await fc.assert(fc.asyncProperty(history, play), { numRuns: HISTORIES, seed, endOnFailure: true });
    },
  );
});
