import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { backfill } from '../../../src/migrations/backfill.ts';
import { readHistory } from '../../../src/migrations/history.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { type Harness, admin, makeHarness } from '../../support/harness.ts';
import { legacyCustomers, legacyHistoryRow, seedLegacy } from '../../support/legacy-records.ts';
import { startGateway, step, toolkitOf } from '../../support/migrating-fleet.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterAll(() => {
  harness.close();
});

describe('history while the old one and the new one both exist', () => {
  it('tells every movement once, and none that only moved the record', async () => {
    const { ledger, clock } = harness;
    const atMs = clock.nowMs();
    const [account] = legacyCustomers({ count: 1, seed: 21, atMs });
    if (account === undefined) throw new Error('no account');
    const row = { kind: 'ADJUSTMENT', asset: 'POINT' };
    const rows = [
      legacyHistoryRow(account, { ...row, atMs: atMs - 2_000, amount: '40' }),
      // A release that kept both histories told of this one in the old one too.
      legacyHistoryRow(account, { ...row, atMs, amount: '5' }),
      legacyHistoryRow(account, { atMs, kind: 'TOP_UP', asset: 'POINT', amount: '5' }),
    ];
    await seedLegacy(ledger.transactor, ledger.ids, [account, { items: rows }]);
    const toolkit = toolkitOf(harness);
    await step(toolkit, GOD_RECORD, 'FORWARD', []);
    const gateway = await startGateway(harness);
    const input = { accountId: account.accountId, asset: 'POINT', amount: '5', reason: 'campaign' };
    await adjustBalance(gateway.ledger, admin('demo'), harness.key(), input);
    await step(toolkit, GOD_RECORD, 'FORWARD', [gateway]);
    await step(toolkit, GOD_RECORD, 'FORWARD', [gateway]);
    await backfill(toolkit, GOD_RECORD, { segments: 1 });
    expect(await harness.entries('demo', account.accountId)).toHaveLength(2);

    const history = await readHistory(ledger.store, account, { limit: 10 });
    expect(
      history.map(({ type, kind, amount, atMs: at }) => [type, kind, plainDecimal(amount), at - atMs]),
    ).toEqual([
      ['BALANCE#POINT', 'ADJUSTMENT', '5', 0],
      ['BALANCE#POINT', 'TOP_UP', '5', 0],
      ['BALANCE#POINT', 'ADJUSTMENT', '40', -2_000],
    ]);
  });
});
