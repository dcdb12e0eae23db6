import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import type { Viewer } from '../../../src/auth/viewer.ts';
import { FINDING_KINDS, findingId, findingKind } from '../../../src/ledger/audit/finding-kind.ts';
import { MENDERS } from '../../../src/ledger/audit/menders.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { readProposal } from '../../../src/ledger/items/proposal-item.ts';
import type { AttributeValue } from '../../../src/ledger/kernel/attributes.ts';
import { type ItemKey, proposalKey } from '../../../src/ledger/kernel/keys.ts';
import type { Proposal } from '../../../src/ledger/model/proposal.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { approve } from '../../../src/ledger/usecases/commands/approve.ts';
import { rejectProposal } from '../../../src/ledger/usecases/commands/reject-proposal.ts';
import { type RepairApproved, approveRepair } from '../../../src/ledger/usecases/repair/approve-repair.ts';
import { auditAccount } from '../../../src/ledger/usecases/repair/examine.ts';
import { type RepairProposed, proposeRepair } from '../../../src/ledger/usecases/repair/propose-repair.ts';
import { auditNow, damage, deleteItem } from '../../support/damage.ts';
import { type Harness, admin, makeHarness } from '../../support/harness.ts';
import { fillSample } from './audit-sample.ts';

/** What the audit finds is mended by two admins, with the exact writes that one of them proposed. */

let harness: Harness;
let order: ItemKey;
beforeEach(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  const { orderId } = await fillSample(harness);
  order = { uuid: 'demo#alice', type: `ORDER#${orderId}` };
  return () => {
    harness.close();
  };
});

const ADA = admin('demo', 'ada');
const BEN = admin('demo', 'ben');
const ALICE = { tenant: 'demo', accountId: 'alice' };
const BALANCE = { uuid: 'demo#alice', type: 'BALANCE#ECOPAY' };

type Stored = Record<string, AttributeValue>;

async function itemAt({ uuid, type }: ItemKey): Promise<Stored | undefined> {
  const Key = { uuid: { S: uuid }, type: { S: type } };
  const { client, tableName } = harness;
  const { Item } = await client.send(new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }));
  // The five kinds of attributes that this table uses.
  return Item as Stored | undefined;
}

async function findings(): Promise<readonly string[]> {
  return (await auditNow(harness)).problems.map(({ item, what }) => `${item} ${what}`);
}

async function propose(viewer: Viewer = ADA): Promise<RepairProposed> {
  const [problem] = (await auditNow(harness)).problems;
  if (problem === undefined) throw new Error('nothing is off');
  return proposeRepair(harness.ledger, viewer, problem, 'lost in the outage');
}

async function proposed(): Promise<Proposal> {
  const outcome = await propose();
  if (outcome.kind !== 'PROPOSED') throw new Error(`not proposed: ${outcome.kind}`);
  return outcome.proposal;
}

const yes = (proposal: Proposal, viewer: Viewer = BEN): Promise<RepairApproved> =>
  approveRepair(harness.ledger, viewer, proposal);

interface Case {
  readonly name: string;
  readonly at: () => ItemKey;
  readonly harm: () => Promise<unknown>;
  readonly found: () => readonly string[];
  /** What of the item changes, before and after. */
  readonly before: object;
  readonly after: object;
}

const CASES: readonly Case[] = [
  {
    name: 'a balance that is not the sum of its entries',
    at: () => BALANCE,
    harm: () => damage(harness, BALANCE, 'balance', { N: '99999' }),
    found: () => ['BALANCE#ECOPAY balance'],
    before: { balance: { N: '99999' }, writes: { N: '4' } },
    after: { balance: { N: '1140' }, writes: { N: '5' } },
  },
  {
    name: 'a balance whose item is lost',
    at: () => BALANCE,
    harm: () => deleteItem(harness, BALANCE),
    found: () => ['BALANCE#ECOPAY balance'],
    before: {},
    after: { balance: { N: '1140' }, writes: { N: '1' } },
  },
  {
    name: 'metrics that are not the sum of their entries',
    at: () => ({ uuid: 'demo#alice', type: 'METRICS' }),
    harm: () => damage(harness, { uuid: 'demo#alice', type: 'METRICS' }, 'charged_total', { N: '1' }),
    found: () => ['METRICS METRIC/CHARGED'],
    before: { charged_total: { N: '1' }, writes: { N: '2' } },
    after: { charged_total: { N: '360' }, writes: { N: '3' } },
  },
  {
    name: 'an order that counts its refunds wrongly',
    at: () => order,
    harm: () => damage(harness, order, 'refunded', { N: '20' }),
    found: () => [`${order.type} refunded`, `${order.type} refundable`],
    before: { refunded: { N: '20' }, rev: { N: '3' } },
    after: { refunded: { N: '120' }, rev: { N: '4' } },
  },
  {
    name: 'an order that owes what nobody booked',
    at: () => order,
    harm: () => damage(harness, order, 'owed', { N: '7' }),
    found: () => [`${order.type} owed`],
    before: Object.fromEntries([
      ['owed', { N: '7' }],
      ['rev', { N: '3' }],
    ]),
    after: { rev: { N: '4' } },
  },
  {
    name: 'an order that has lost count of its refunds',
    at: () => order,
    harm: () => damage(harness, order, 'refunds', { N: '5' }),
    found: () => [`${order.type} refunds`],
    before: { refunds: { N: '5' }, rev: { N: '3' } },
    after: { refunds: { N: '1' }, rev: { N: '4' } },
  },
];

describe('a finding', () => {
  it.each(CASES)('is mended by two admins: $name', async ({ at, harm, found, before, after }) => {
    const whole = await itemAt(at());
    await harm();
    const harmed = await itemAt(at());
    expect(await findings()).toEqual(found());
    const proposal = await proposed();
    expect(await itemAt(at())).toEqual(harmed);
    const [write, ...more] = proposal.repair?.writes ?? [];
    expect(more).toEqual([]);
    expect(JSON.parse(write?.before ?? '')).toEqual(before);
    expect(JSON.parse(write?.after ?? '')).toMatchObject(after);

    expect(await yes(proposal)).toMatchObject({ kind: 'APPROVED' });
    expect(await findings()).toEqual([]);
    expect(await auditAccount(harness.ledger.store, ALICE)).toEqual([]);
    expect(await harness.balance('demo', 'alice')).toBe('1140');
    const counters = { writes: undefined, rev: undefined, updated_at: undefined };
    expect({ ...(await itemAt(at())), ...counters }).toEqual({ ...whole, ...counters });
    const [item] = await harness.ledger.store.get([proposalKey(proposal)]);
    expect(item === undefined ? undefined : readProposal(item)).toMatchObject({
      state: 'APPROVED',
      proposer: 'admin/ada',
      reason: 'lost in the outage',
      decision: { by: 'admin/ben', atMs: harness.clock.nowMs() },
      repair: proposal.repair,
    });
  });

  it('has one id in every audit, and another one than any other finding', async () => {
    await damage(harness, order, 'refunded', { N: '20' });
    const ids = async (): Promise<readonly string[]> => (await auditNow(harness)).problems.map(findingId);
    const first = await ids();
    expect(new Set(first).size).toBe(2);
    await harness.fund('demo', 'alice', '5');
    expect(await ids()).toEqual(first);
    for (const id of first) expect(id).toMatch(/^F-[0-9a-f]{12}$/);
  });

  it('that no rule mends says what to do instead, and stores nothing', async () => {
    const [entry] = await harness.entries('demo', 'alice');
    await damage(
      harness,
      { uuid: 'demo#alice', type: `ENTRY#${entry?.entryId ?? ''}` },
      'postings',
      undefined,
    );
    const { problems } = await auditNow(harness);
    const [first] = problems.filter((problem) => findingKind(problem) === 'entry-posting');
    if (first === undefined) throw new Error('not found');
    const outcome = await proposeRepair(harness.ledger, ADA, first, 'r');
    expect(outcome.kind === 'BY_HAND' ? outcome.instead : outcome.kind).toMatch(/restored backup/);
    const stored = await harness.ledger.store.query({
      uuid: 'demo#alice',
      prefix: 'PROPOSAL#',
      limit: 1,
      newestFirst: false,
    });
    expect(stored).toEqual([]);
  });

  it('of a balance whose entries take more than they gave is left to a person', async () => {
    const gave = (await harness.entries('demo', 'alice')).slice(0, 2);
    expect(gave.map(({ operation }) => operation)).toEqual(['ADJUSTMENT', 'TOP_UP']);
    for (const { entryId } of gave)
      await deleteItem(harness, { uuid: 'demo#alice', type: `ENTRY#${entryId}` });
    const problem = (await auditNow(harness)).problems.find((one) => findingKind(one) === 'balance');
    if (problem === undefined) throw new Error('not found');
    expect(problem).toMatchObject({ item: 'BALANCE#ECOPAY', expected: '-360', found: '1140' });
    const outcome = await proposeRepair(harness.ledger, ADA, problem, 'r');
    expect(outcome.kind === 'BY_HAND' ? outcome.instead : outcome.kind).toMatch(
      /^Its entries take more than they gave/,
    );
    expect(await harness.balance('demo', 'alice')).toBe('1140');
  });
});

describe('approving a repair', () => {
  beforeEach(() => damage(harness, BALANCE, 'balance', { N: '99999' }));

  it('takes another admin of the same tenant', async () => {
    const proposal = await proposed();
    expect(await yes(proposal, ADA)).toEqual({ kind: 'OWN' });
    expect(await yes(proposal, admin('t_1', 'ben'))).toEqual({ kind: 'NOT_FOUND' });
    expect(await yes(proposal, { ...BEN, role: 'CUSTOMER' })).toEqual({ kind: 'NOT_FOUND' });
    expect((await itemAt(BALANCE))?.['balance']).toEqual({ N: '99999' });
    expect(await propose(admin('t_1', 'ada'))).toEqual({ kind: 'NOT_ALLOWED' });
    expect(await propose({ ...ADA, role: 'MERCHANT' })).toEqual({ kind: 'NOT_ALLOWED' });
  });

  it('writes nothing where the item has changed since', async () => {
    const proposal = await proposed();
    await damage(harness, BALANCE, 'balance', { N: '5' });
    expect(await yes(proposal)).toEqual({ kind: 'CHANGED' });
    expect((await itemAt(BALANCE))?.['balance']).toEqual({ N: '5' });
  });

  it('writes nothing where an entry has come or gone since', async () => {
    const proposal = await proposed();
    const input = { accountId: 'alice', asset: 'ECOPAY', amount: '-10', reason: 'r' };
    expect((await adjustBalance(harness.ledger, ADA, harness.key(), input)).kind).toBe(
      'AdjustBalanceSuccess',
    );
    expect(await yes(proposal)).toEqual({ kind: 'CHANGED' });
    expect((await itemAt(BALANCE))?.['balance']).toEqual({ N: '99989' });
    const again = await proposed();
    expect(await yes(again)).toMatchObject({ kind: 'APPROVED' });
    expect(await harness.balance('demo', 'alice')).toBe('1130');
  });

  it('writes nothing where the item changes between reading and committing', async () => {
    const proposal = await proposed();
    const { store, transactor } = harness.ledger;
    let raced = false;
    const racing: typeof transactor = {
      commit: async (plan, hooks) => {
        if (!raced) {
          raced = true;
          await damage(harness, BALANCE, 'balance', { N: '5' });
        }
        return transactor.commit(plan, hooks);
      },
    };
    const ledger = { ...harness.ledger, store, transactor: racing };
    expect(await approveRepair(ledger, BEN, proposal)).toEqual({ kind: 'CHANGED' });
    expect((await itemAt(BALANCE))?.['balance']).toEqual({ N: '5' });
    const [item] = await store.get([proposalKey(proposal)]);
    expect(item?.['state']).toEqual({ S: 'OPEN' });
  });

  it('by several at once commits once', async () => {
    const proposal = await proposed();
    const admins = ['ben', 'cem', 'dot'].map((name) => admin('demo', name));
    const outcomes = await Promise.all(admins.map((viewer) => yes(proposal, viewer)));
    expect(outcomes.filter(({ kind }) => kind === 'APPROVED')).toHaveLength(1);
    expect((await itemAt(BALANCE))?.['writes']).toEqual({ N: '5' });
    expect(await yes(proposal, admin('demo', 'eve'))).toEqual({ kind: 'NOT_OPEN', state: 'APPROVED' });
  });

  it('is over once it was rejected or is too old; approve does not take it', async () => {
    const [rejected, old] = [await proposed(), await proposed()];
    const { accountId, proposalId } = rejected;
    const id = encodeNodeId('Proposal', 'demo', accountId, proposalId);
    const key = harness.key();
    expect(await approve(harness.ledger, BEN, key, { proposalId: id })).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['proposalId'], code: 'not_allowed' }],
    });
    const no = { proposalId: id, reason: 'the entries are wrong' };
    expect(await rejectProposal(harness.ledger, BEN, harness.key(), no)).toMatchObject({
      kind: 'RejectProposalSuccess',
    });
    expect(await yes(rejected)).toEqual({ kind: 'NOT_OPEN', state: 'REJECTED' });
    harness.clock.advance(7 * 86_400_000);
    expect(await yes(old)).toEqual({ kind: 'NOT_OPEN', state: 'EXPIRED' });
    expect((await itemAt(BALANCE))?.['balance']).toEqual({ N: '99999' });
  });
});

it('every kind of finding has a rule that mends it, or says what to do instead', () => {
  expect(Object.keys(MENDERS).sort()).toEqual([...FINDING_KINDS].sort());
});
