import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, inject, it, onTestFinished } from 'vitest';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { entryAttributes } from '../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import type { Store } from '../../../src/ledger/table/store.ts';
import { auditNow, damage } from '../../support/damage.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';

/** An account that no page of a scan, and no page of a query, holds all of. */

const ENTRIES = 1_001;

/** One yen by an adjustment of the product's own, and the others beside it, each with a long reason. */
async function largeAccount(harness: Harness): Promise<void> {
  const { ledger, client, clock, tableName } = harness;
  await harness.fund('demo', 'alice', '1');
  const entries = Array.from({ length: ENTRIES - 1 }, () => ({
    tenant: 'demo',
    accountId: 'alice',
    entryId: ledger.ids.ulid(clock.nowMs()),
    operation: 'ADJUSTMENT' as const,
    postings: [{ debit: 'issuer', credit: 'wallet:alice', asset: 'ECOPAY', amount: decimal('1') }],
    reason: 'x'.repeat(1_200),
    actor: 'root',
    atMs: clock.nowMs(),
  }));
  for (let at = 0; at < entries.length; at += 25) {
    const puts = entries
      .slice(at, at + 25)
      .map((entry) => ({ PutRequest: { Item: toAttributes(entryAttributes(entry)) } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: puts } }));
  }
  await damage(harness, BALANCE, 'balance', { N: String(ENTRIES) });
}

const BALANCE = { uuid: 'demo#alice', type: 'BALANCE#ECOPAY' };

it('is judged whole: at once if it is in order, and page by page if it is read again', async () => {
  const harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  onTestFinished(harness.close);
  await largeAccount(harness);
  const { store } = harness.ledger;
  const pages: number[] = [];
  const watched: Store = {
    ...store,
    query: async (request) => {
      const found = await store.query(request);
      if (request.prefix === 'ENTRY#') pages.push(found.length);
      return found;
    },
  };
  expect(await auditNow(harness, watched)).toMatchObject({ accounts: 1, entries: ENTRIES, problems: [] });
  expect(pages).toEqual([]);
  await damage(harness, BALANCE, 'balance', { N: '1000' });
  expect((await auditNow(harness, watched)).problems).toMatchObject([
    { item: 'BALANCE#ECOPAY', expected: '1001', found: '1000', offBy: '-1' },
  ]);
  expect(pages).toEqual([1_000, 1, 1_000, 1, 1_000, 1]);
});
