import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import type { ItemKey } from '../../../src/ledger/kernel/keys.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import { type PlannedItem, plan, putNew } from '../../../src/ledger/items/plan.ts';
import { backfill } from '../../../src/migrations/backfill.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { takeStep } from '../../../src/migrations/steps.ts';
import { type VerifyResult, verify } from '../../../src/migrations/verify.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { legacyCustomers, seedLegacy } from '../../support/legacy-records.ts';
import { step, toolkitOf } from '../../support/migrating-fleet.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  const { transactor, ids } = harness.ledger;
  await seedLegacy(transactor, ids, legacyCustomers({ count: 3, seed: SEED, atMs: harness.clock.nowMs() }));
  const toolkit = toolkitOf(harness);
  for (const phase of ['off', 'expand', 'backfill']) {
    expect(await step(toolkit, GOD_RECORD, 'FORWARD', [])).toBe(phase);
  }
  expect(await backfill(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({ handled: 3, left: 0 });
  expect(await step(toolkit, GOD_RECORD, 'FORWARD', [])).toBe('verify');
});
afterAll(() => {
  harness.close();
});

const SEED = 31;
const BUSY = { uuid: `demo#legacy-${SEED}-0`, type: 'CUSTOMER' };

async function write(item: PlannedItem): Promise<void> {
  const { transactor, ids } = harness.ledger;
  expect(await transactor.commit(plan(ids.token(), { items: [item] }))).toEqual({ kind: 'COMMITTED' });
}

function countWrite(key: ItemKey): PlannedItem {
  return {
    role: 'other',
    item: {
      Update: {
        Key: toAttributes({ ...key }),
        UpdateExpression: 'ADD #writes :one',
        ExpressionAttributeNames: { '#writes': 'writes' },
        ExpressionAttributeValues: { ':one': { N: '1' } },
      },
    },
  };
}

/** A verify beside somebody who writes a record after each of so many readings of it. */
async function verifiedBesideWrites(readings: number): Promise<VerifyResult> {
  const toolkit = toolkitOf(harness);
  const { store, transactor } = toolkit.table;
  let left = readings;
  const busy: typeof store = {
    ...store,
    get: async (keys) => {
      const items = await store.get(keys);
      if (left > 0 && keys.some(({ uuid, type }) => uuid === BUSY.uuid && type === BUSY.type)) {
        left -= 1;
        await write(countWrite(BUSY));
      }
      return items;
    },
  };
  return verify({ ...toolkit, table: { store: busy, transactor } }, GOD_RECORD, { segments: 1 });
}

describe('verify', () => {
  it('compares a record that is being written as it was once nobody wrote it', async () => {
    expect(await verifiedBesideWrites(10)).toMatchObject({
      kind: 'VERIFIED',
      report: { records: 3, unmoved: 0, differences: 0 },
    });
  });

  it('counts no more once a backfill has begun after it', async () => {
    const toolkit = toolkitOf(harness);
    expect(await takeStep(toolkit, GOD_RECORD, 'FORWARD', { dryRun: true })).toMatchObject({ kind: 'READY' });
    await backfill(toolkit, GOD_RECORD, { segments: 1 });
    expect(await takeStep(toolkit, GOD_RECORD, 'FORWARD', { dryRun: true })).toEqual({
      kind: 'REFUSED',
      reasons: ['Run "verify god-record" in this phase first.'],
    });
  });

  it('tells no record equal that was written during every reading, and opens no gate', async () => {
    expect(await verifiedBesideWrites(1_000)).toMatchObject({
      report: {
        differences: 1,
        listed: [{ kind: 'UNSETTLED', tenant: 'demo', accountId: `legacy-${SEED}-0` }],
      },
    });
    expect(await takeStep(toolkitOf(harness), GOD_RECORD, 'FORWARD')).toEqual({
      kind: 'REFUSED',
      reasons: ['Differences: 1. Run "verify god-record" to see them.'],
    });
  });

  it('finds what a way back would lose, keeps nothing of a dry run, and says when it has not begun', async () => {
    const toolkit = toolkitOf(harness);
    await write(putNew('other', { uuid: 'demo#ghost', type: 'BALANCE#POINT', balance: decimal('5') }));
    await verify(toolkit, GOD_RECORD, { segments: 1 });
    const found = {
      kind: 'VERIFIED',
      report: {
        records: 3,
        differences: 1,
        listed: [{ kind: 'WITHOUT_RECORD', of: 'BALANCE#POINT', tenant: 'demo', accountId: 'ghost' }],
      },
    };
    const { store } = toolkit.table;
    const before = (await store.scan(0, 1, undefined)).items;
    expect(await verify(toolkit, GOD_RECORD, { segments: 1, dryRun: true })).toMatchObject(found);
    expect((await store.scan(0, 1, undefined)).items).toEqual(before);
    expect(await verify(toolkit, { ...GOD_RECORD, id: 'later' }, { segments: 1 })).toEqual({
      kind: 'REFUSED',
      reasons: ['It has not begun.'],
    });
  });
});
