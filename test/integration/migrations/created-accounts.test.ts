import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { updateProfile } from '../../../src/ledger/usecases/commands/update-profile.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { backfill } from '../../../src/migrations/backfill.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { followMigrations } from '../../../src/migrations/migrating-table.ts';
import { verify } from '../../../src/migrations/verify.ts';
import { createMigrationView } from '../../../src/migrations/view.ts';
import { type Harness, customer, makeHarness, terminal } from '../../support/harness.ts';
import { startGateway, step, toolkitOf } from '../../support/migrating-fleet.ts';

/** Accounts that come to be at two gateways at once, of which one is still in `expand` and makes them in the old shape. */

let harness: Harness;
let early: Ledger;
let late: Ledger;
/** What happens between the late gateway's look at a record and its next commit: once. */
let between: (() => Promise<unknown>) | undefined;

beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  const { ledger } = harness;
  const toolkit = toolkitOf(harness);
  await step(toolkit, GOD_RECORD, 'FORWARD', []);
  await step(toolkit, GOD_RECORD, 'FORWARD', []);
  early = (await startGateway(harness)).ledger;
  await step(toolkit, GOD_RECORD, 'FORWARD', []);
  const view = createMigrationView(ledger);
  await view.refresh();
  const table = {
    store: ledger.store,
    transactor: {
      commit: async (...sent: Parameters<Ledger['transactor']['commit']>) => {
        const interruption = between;
        between = undefined;
        await interruption?.();
        return ledger.transactor.commit(...sent);
      },
    },
  };
  late = { ...ledger, ...followMigrations(table, view, ledger.ids) };
});
afterAll(() => {
  harness.close();
});

function cashIn(ledger: Ledger, accountId: string, amount: string): ReturnType<typeof topUp> {
  return topUp(ledger, terminal('cafe', 'demo'), harness.key(), { accountId, amount, method: 'CASH' });
}

it('are one record with both writes, whichever gateway came first and whatever it wrote', async () => {
  between = () => cashIn(early, 'paid', '100');
  expect(await cashIn(late, 'paid', '20')).toMatchObject({ kind: 'TopUpSuccess' });
  const profile = { accountId: 'named', displayName: 'Zoë' };
  between = () => updateProfile(early, customer('named', 'demo'), profile);
  expect(await cashIn(late, 'named', '7')).toMatchObject({ kind: 'TopUpSuccess' });
  await cashIn(late, 'created', '3');
  await cashIn(early, 'created', '4');

  const toolkit = toolkitOf(harness);
  expect(await backfill(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({ left: 0 });
  expect(await verify(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({
    report: { records: 3, unmoved: 0, differences: 0 },
  });
  const balances = ['paid', 'named', 'created'].map((accountId) => harness.balance('demo', accountId));
  expect(await Promise.all(balances)).toEqual(['120', '7', '7']);
});
