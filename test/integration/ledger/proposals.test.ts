import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Viewer } from '../../../src/auth/viewer.ts';
import type { Tenants } from '../../../src/config/tenants.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { readProposal } from '../../../src/ledger/items/proposal-item.ts';
import { proposalKey } from '../../../src/ledger/kernel/keys.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import type { Proposal } from '../../../src/ledger/model/proposal.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { approve } from '../../../src/ledger/usecases/commands/approve.ts';
import { rejectProposal } from '../../../src/ledger/usecases/commands/reject-proposal.ts';
import { listOpenProposals } from '../../../src/ledger/usecases/queries/read-proposals.ts';
import { type Harness, TENANTS_WITH_APPROVAL, admin, makeHarness } from '../../support/harness.ts';

/** Adjustments above a tenant's threshold: one admin proposes, another one decides (docs/DESIGN.md §11). */

let harness: Harness;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint'), tenants: TENANTS_WITH_APPROVAL });
});
afterAll(() => {
  harness.close();
});

const ADA = admin('t_1', 'ada');
const BEN = admin('t_1', 'ben');
const WEEK_MS = 7 * 86_400_000;

let accounts = 0;
function account(): string {
  accounts += 1;
  return `p_${String(accounts)}`;
}

interface Proposed {
  readonly accountId: string;
  readonly proposalId: string;
  /** Its public id. */
  readonly id: string;
}

async function propose(amount: string, accountId = account(), viewer: Viewer = ADA): Promise<Proposed> {
  const input = { accountId, asset: 'ECOPAY', amount, reason: 'goodwill' };
  const outcome = await adjustBalance(harness.ledger, viewer, harness.key(), input);
  if (outcome.kind !== 'PendingApproval') throw new Error(`not proposed: ${outcome.kind}`);
  const { proposalId } = outcome;
  return { accountId, proposalId, id: encodeNodeId('Proposal', viewer.tenant, accountId, proposalId) };
}

async function stored({ accountId, proposalId }: Proposed): Promise<Proposal> {
  const [item] = await harness.ledger.store.get([proposalKey({ tenant: 't_1', accountId, proposalId })]);
  if (item === undefined) throw new Error('no such proposal');
  return readProposal(item);
}

const decide = (viewer: Viewer, { id }: Proposed, key = harness.key()): ReturnType<typeof approve> =>
  approve(harness.ledger, viewer, key, { proposalId: id });
const refuse = (viewer: Viewer, { id }: Proposed): ReturnType<typeof rejectProposal> =>
  rejectProposal(harness.ledger, viewer, harness.key(), { proposalId: id, reason: 'not agreed' });

describe('an adjustment', () => {
  it.each([['100.00'], ['-100.00']])('of %s, no more than the threshold, is made at once', async (amount) => {
    const accountId = account();
    await harness.fund('t_1', accountId, '100.00');
    const input = { accountId, asset: 'ECOPAY', amount, reason: 'r' };
    const outcome = await adjustBalance(harness.ledger, ADA, harness.key(), input);
    expect(outcome.kind).toBe('AdjustBalanceSuccess');
    expect(await harness.balance('t_1', accountId)).toBe(amount === '100.00' ? '200' : '0');
  });

  it.each([['100.01'], ['-100.01']])('of %s, more than the threshold, waits for approval', async (amount) => {
    const accountId = account();
    await harness.fund('t_1', accountId, '100.00');
    await harness.fund('t_1', accountId, '50.00');
    const proposed = await propose(amount, accountId);
    expect(await harness.balance('t_1', accountId)).toBe('150');
    expect(await harness.entries('t_1', accountId)).toHaveLength(2);
    expect(await stored(proposed)).toEqual({
      tenant: 't_1',
      accountId,
      proposalId: proposed.proposalId,
      state: 'OPEN',
      adjustment: { asset: 'ECOPAY', amount: decimal(amount) },
      reason: 'goodwill',
      proposer: 'admin/ada',
      proposedAtMs: harness.clock.nowMs(),
      expiresAtMs: harness.clock.nowMs() + WEEK_MS,
    });
  });

  it('of more than the threshold is proposed once, whenever its request comes again', async () => {
    const [accountId, key] = [account(), harness.key()];
    const input = { accountId, asset: 'ECOPAY', amount: '500.00', reason: 'goodwill' };
    const ask = (): ReturnType<typeof adjustBalance> => adjustBalance(harness.ledger, ADA, key, input);
    const first = await ask();
    expect(first).toMatchObject({ kind: 'PendingApproval', replayed: false });
    expect(await ask()).toEqual({ ...first, replayed: true });
    const { rows } = await listOpenProposals(harness.ledger, ADA, { first: 100 });
    expect(rows.filter(({ row }) => row.accountId === accountId)).toHaveLength(1);
  });

  it('of any amount waits where the threshold is nothing, and none does where there is no threshold', async () => {
    const withThreshold = (approvalAbove: string): Tenants => {
      const tenant = TENANTS_WITH_APPROVAL.get('t_1');
      const rule = tenant?.assets.get('ECOPAY');
      if (tenant === undefined || rule === undefined) throw new Error('no such asset');
      const assets = new Map([['ECOPAY', { ...rule, approvalAbove: decimal(approvalAbove) }]]);
      return new Map([['t_1', { ...tenant, assets }]]);
    };
    const input = { accountId: account(), asset: 'ECOPAY', amount: '0.01', reason: 'r' };
    const strict = { ...harness.ledger, tenants: withThreshold('0') };
    expect((await adjustBalance(strict, ADA, harness.key(), input)).kind).toBe('PendingApproval');
    const large = { ...input, asset: 'POINT', amount: '1000000' };
    expect((await adjustBalance(harness.ledger, ADA, harness.key(), large)).kind).toBe(
      'AdjustBalanceSuccess',
    );
  });
});

describe('approving', () => {
  it('books the adjustment with both names on it, and says so again on a replay', async () => {
    const proposed = await propose('250.00');
    const { accountId, proposalId } = proposed;
    const key = harness.key();
    harness.clock.advance(60_000);
    const outcome = await decide(BEN, proposed, key);
    expect(outcome).toMatchObject({ kind: 'ApproveSuccess', accountId, proposalId, replayed: false });
    expect(await decide(BEN, proposed, key)).toEqual({ ...outcome, replayed: true });
    expect(await harness.balance('t_1', accountId)).toBe('250');
    const [entry, ...more] = await harness.entries('t_1', accountId);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      operation: 'ADJUSTMENT',
      actor: 'ada',
      approver: 'ben',
      proposalId,
      reason: 'goodwill',
      atMs: harness.clock.nowMs(),
    });
    expect(await stored(proposed)).toMatchObject({
      state: 'APPROVED',
      decision: { by: 'admin/ben', atMs: harness.clock.nowMs(), entryId: entry?.entryId },
    });
  });

  it('is refused to whoever proposed it, and stays open to another', async () => {
    const proposed = await propose('250.00');
    expect(await decide(ADA, proposed)).toMatchObject({ kind: 'SecondAdminRequired', replayed: false });
    expect(await harness.entries('t_1', proposed.accountId)).toEqual([]);
    expect((await decide(BEN, proposed)).kind).toBe('ApproveSuccess');
  });

  it('commits once, however many approve at once', async () => {
    const proposed = await propose('250.00');
    const admins = ['ben', 'cem', 'dot', 'eve'].map((name) => admin('t_1', name));
    const outcomes = await Promise.all(admins.map((viewer) => decide(viewer, proposed)));
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'ApproveSuccess')).toHaveLength(1);
    expect(kinds.filter((kind) => kind !== 'ApproveSuccess' && kind !== 'TransactionConflict')).toEqual(
      kinds.filter((kind) => kind === 'ProposalNotOpen'),
    );
    expect(await harness.balance('t_1', proposed.accountId)).toBe('250');
    expect(await harness.entries('t_1', proposed.accountId)).toHaveLength(1);
  });

  it('is judged by the balance as it is then, and a no leaves the proposal open', async () => {
    const accountId = account();
    const proposed = await propose('-250.00', accountId);
    expect(await decide(BEN, proposed)).toMatchObject({
      kind: 'InsufficientBalance',
      required: '250.00',
      available: '0.00',
    });
    for (const amount of ['100.00', '100.00', '60.00']) await harness.fund('t_1', accountId, amount);
    expect((await decide(BEN, proposed)).kind).toBe('ApproveSuccess');
    expect(await harness.balance('t_1', accountId)).toBe('10');
  });

  it('is refused once the proposal is decided on or too old, by name', async () => {
    const [approved, rejected, expired] = [
      await propose('250.00'),
      await propose('250.00'),
      await propose('250.00'),
    ];
    expect((await decide(BEN, approved)).kind).toBe('ApproveSuccess');
    expect((await refuse(BEN, rejected)).kind).toBe('RejectProposalSuccess');
    harness.clock.advance(WEEK_MS - 1);
    const last = await propose('250.00');
    harness.clock.advance(1);
    for (const [proposed, state] of [
      [approved, 'APPROVED'],
      [rejected, 'REJECTED'],
      [expired, 'EXPIRED'],
    ] as const) {
      expect(await decide(BEN, proposed)).toMatchObject({ kind: 'ProposalNotOpen', state });
      expect(await refuse(BEN, proposed)).toMatchObject({ kind: 'ProposalNotOpen', state });
    }
    expect(await harness.balance('t_1', approved.accountId)).toBe('250');
    expect(await harness.entries('t_1', rejected.accountId)).toEqual([]);
    expect(await harness.entries('t_1', expired.accountId)).toEqual([]);
    expect((await decide(BEN, last)).kind).toBe('ApproveSuccess');
  });

  it('finds nothing under an id that is unknown, malformed or of another tenant', async () => {
    const { id } = await propose('250.00');
    const unknown = encodeNodeId('Proposal', 't_1', 'nobody', '01HZY3V9QK7F0B6W8N4T2D5XCM');
    for (const [viewer, proposalId] of [
      [BEN, unknown],
      [BEN, 'no-id'],
      [admin('demo', 'ben'), id],
    ] as const) {
      const key = harness.key();
      expect(await approve(harness.ledger, viewer, key, { proposalId })).toEqual({ kind: 'NotFound' });
      const input = { proposalId, reason: 'r' };
      expect(await rejectProposal(harness.ledger, viewer, key, input)).toEqual({ kind: 'NotFound' });
    }
  });
});

describe('rejecting', () => {
  it('closes it with a reason, and its proposer may take it back', async () => {
    const proposed = await propose('250.00');
    expect((await refuse(ADA, proposed)).kind).toBe('RejectProposalSuccess');
    expect(await stored(proposed)).toMatchObject({
      state: 'REJECTED',
      decision: { by: 'admin/ada', reason: 'not agreed' },
    });
    expect(await harness.balance('t_1', proposed.accountId)).toBe('0');
  });

  it('or approving: one of both at once, never both', async () => {
    for (let round = 0; round < 5; round += 1) {
      const proposed = await propose('250.00');
      const [yes, no] = await Promise.all([decide(BEN, proposed), refuse(ADA, proposed)]);
      const done = [yes.kind, no.kind].filter((kind) => kind.endsWith('Success'));
      expect(done).toHaveLength(1);
      const { state } = await stored(proposed);
      expect(state).toBe(done[0] === 'ApproveSuccess' ? 'APPROVED' : 'REJECTED');
      expect(await harness.balance('t_1', proposed.accountId)).toBe(state === 'APPROVED' ? '250' : '0');
    }
  });
});

describe('the list of proposals', () => {
  it('has the open ones of the tenant, newest first, page by page', async () => {
    harness.clock.advance(WEEK_MS);
    const made: string[] = [];
    for (const amount of ['101', '102', '103', '104', '105']) {
      harness.clock.advance(1_000);
      made.unshift((await propose(amount)).proposalId);
    }
    const [decided] = (await listOpenProposals(harness.ledger, BEN, { first: 1 })).rows;
    if (decided === undefined) throw new Error('nothing listed');
    const id = encodeNodeId('Proposal', 't_1', decided.row.accountId, decided.row.proposalId);
    await approve(harness.ledger, BEN, harness.key(), { proposalId: id });
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await listOpenProposals(harness.ledger, BEN, { first: 2, after });
      seen.push(...page.rows.map(({ row }) => row.proposalId));
      after = page.hasNextPage ? page.endCursor : undefined;
    } while (after !== undefined);
    expect(seen).toEqual(made.slice(1));
    expect((await listOpenProposals(harness.ledger, admin('demo'), {})).rows).toEqual([]);
    harness.clock.advance(WEEK_MS);
    expect((await listOpenProposals(harness.ledger, BEN, {})).rows).toEqual([]);
  });
});
