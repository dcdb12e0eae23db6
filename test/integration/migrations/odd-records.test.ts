import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { AttributeValue, StoredItem } from '../../../src/ledger/kernel/attributes.ts';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import type { PlannedItem } from '../../../src/ledger/items/plan.ts';
import { backfill } from '../../../src/migrations/backfill.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { unmovedRecords } from '../../../src/migrations/toolkit.ts';
import { verify } from '../../../src/migrations/verify.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { seedLegacy } from '../../support/legacy-records.ts';
import { step, toolkitOf } from '../../support/migrating-fleet.ts';

/** Records that no release should have left behind, each beside others that are in order. */

let harness: Harness;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  const { transactor, ids } = harness.ledger;
  const items = [...Object.entries(SOUND), ...Object.entries(ODD)].map(([uuid, held]) =>
    stored(uuid, 'CUSTOMER', held),
  );
  await seedLegacy(transactor, ids, [
    {
      items: [...items, stored('demo#unread', 'ENTRY#01ARZ3NDEKTSV4RRFFQ69G5FAV', { postings: { S: '?' } })],
    },
  ]);
  for (const phase of ['off', 'expand', 'backfill']) {
    expect(await step(toolkitOf(harness), GOD_RECORD, 'FORWARD', [])).toBe(phase);
  }
});
afterAll(() => {
  harness.close();
});

type Leased = Record<string, AttributeValue>;

const MOST = '9'.repeat(38);
const SOUND: Readonly<Record<string, Leased>> = {
  'demo#most': { ecopay: { N: MOST } },
  'demo#least': { point: { N: `0.${'0'.repeat(36)}1` } },
  'demo#nothing': { ecopay: { N: '0' }, name: { S: '' } },
  'demo#empty': {},
  'demo#more': { jcredit: { N: '7' }, loyalty_tier: { S: 'gold' }, updated_at: { S: 'yesterday' } },
};
const ODD: Readonly<Record<string, Leased>> = {
  'demo#text': { ecopay: { S: '500' } },
  'demo#long': { ecopay: { N: `0.${'0'.repeat(60)}1` } },
  'demo#owes': { point: { N: '-1' } },
  'demo#switch': { mail: { BOOL: false }, ecopay: { N: '3' } },
  'demo#counted': { writes: { S: 'twice' }, ecopay: { N: '4' } },
  'demo#unread': { ecopay: { N: '5' } },
  // An item holds 400 KB: there is no room for a mark.
  'demo#heavy': { ecopay: { N: '9' }, note: { S: 'x'.repeat(409_600 - 45) } },
  'demo#some@shop.example': { ecopay: { N: '6' } },
  'demo#most#more': { ecopay: { N: '7' } },
  elsewhere: { ecopay: { N: '8' } },
};

/** An item as whoever wrote it left it: no builder of ours would make it. */
function stored(uuid: string, type: string, held: Leased): PlannedItem {
  return { role: 'other', item: { Put: { Item: { uuid: { S: uuid }, type: { S: type }, ...held } } } };
}

async function table(): Promise<readonly StoredItem[]> {
  return (await harness.ledger.store.scan(0, 1, undefined)).items;
}

async function oddOnes(): Promise<readonly StoredItem[]> {
  return (await table()).filter(({ uuid }) => (uuid?.S ?? '') in ODD);
}

const LEFT = [
  { record: 'demo#counted', reason: 'writes is no number' },
  { record: 'demo#long', reason: 'ecopay is no number of up to 38 digits' },
  { record: 'demo#most#more', reason: 'its key names no account' },
  { record: 'demo#owes', reason: 'POINT is negative' },
  { record: 'demo#some@shop.example', reason: 'its key names no account' },
  { record: 'demo#switch', reason: 'mail is no text' },
  { record: 'demo#text', reason: 'ecopay is no number of up to 38 digits' },
  { record: 'elsewhere', reason: 'its key names no account' },
];

describe('records with odd values', () => {
  it('are foreseen by a dry run, which writes nothing', async () => {
    const before = await table();
    const result = await backfill(toolkitOf(harness), GOD_RECORD, { segments: 2, dryRun: true });
    if (result.kind !== 'FINISHED') throw new Error('refused');
    // What a record's entries say a dry run doesn't read, nor does it try whether there is room.
    expect(result).toMatchObject({ dryRun: true, handled: 7, left: 8 });
    expect(byRecord(result.leftRecords)).toEqual(LEFT);
    expect(await table()).toEqual(before);
  });

  it('are left as they were, each with its reason, and keep no other from moving', async () => {
    const before = await oddOnes();
    const result = await backfill(toolkitOf(harness), GOD_RECORD, { segments: 2 });
    if (result.kind !== 'FINISHED') throw new Error('refused');
    expect(result).toMatchObject({ handled: 5, left: 10 });
    expect(byRecord(result.leftRecords)).toEqual(
      byRecord([
        ...LEFT,
        { record: 'demo#heavy', reason: "it can't be moved: the table refused a transaction as invalid" },
        {
          record: 'demo#unread',
          reason: "it can't be moved: malformed item: attribute op",
        },
      ]),
    );
    expect(await oddOnes()).toEqual(before);
    const most = await harness.balance('demo', 'most', 'ECOPAY');
    const least = await harness.balance('demo', 'least', 'POINT');
    expect([most, least]).toEqual([MOST, `0.${'0'.repeat(36)}1`]);
    expect(await harness.balance('demo', 'more', 'JCREDIT')).toBe('7');
  });

  it('are counted by verify as unmoved, so that no step leads past them', async () => {
    const result = await verify(toolkitOf(harness), GOD_RECORD, { segments: 2 });
    expect(result).toMatchObject({
      kind: 'VERIFIED',
      report: { records: 15, unmoved: 10, differences: 0 },
    });
  });
});

it('are no hindrance to an audit of all the others', async () => {
  const { store } = harness.ledger;
  const unmoved = await unmovedRecords(store);
  const report = await auditTable(store, {
    segments: 1,
    wait: () => Promise.resolve(),
    ...(unmoved === undefined ? {} : { unmoved }),
  });
  expect(report).toMatchObject({
    problems: [{ accountId: 'unread', item: 'ENTRY#01ARZ3NDEKTSV4RRFFQ69G5FAV', expected: 'readable' }],
    unsettled: [],
  });
});

function byRecord<Value extends { readonly record: string }>(left: readonly Value[]): readonly Value[] {
  return [...left].sort((one, other) => (one.record < other.record ? -1 : 1));
}
