import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import {
  AdjustBalanceDocument,
  type AdjustBalanceMutation,
  ApproveDocument,
  NodeDocument,
  ProposalsDocument,
  RejectProposalDocument,
} from '../../support/generated/documents.ts';
import {
  ADMIN,
  ALICE,
  FOREIGN_ADMIN,
  type Gateway,
  type Principal,
  dataOf,
  startGateway,
} from '../../support/gateway.ts';
import { TENANTS_WITH_APPROVAL } from '../../support/harness.ts';

/** What two admins see of an adjustment above the threshold, over HTTP. */

const SECOND: Principal = { subject: 'second', role: 'ADMIN' };

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    endpoint: inject('engineEndpoint'),
    overrides: { tenants: TENANTS_WITH_APPROVAL },
  });
});
afterAll(() => gateway.close());

type Pending = Extract<AdjustBalanceMutation['adjustBalance'], { readonly __typename: 'PendingApproval' }>;

async function propose(key = gateway.key()): Promise<Pending> {
  const input = { accountId: 'alice', asset: 'ECOPAY', amount: '250.00', reason: 'goodwill' };
  const { adjustBalance } = dataOf(await gateway.run(ADMIN, AdjustBalanceDocument, { key, input }));
  if (adjustBalance.__typename !== 'PendingApproval') throw new Error(adjustBalance.__typename);
  return adjustBalance;
}

const answerOf = async (principal: Principal, proposalId: string, key = gateway.key()) =>
  dataOf(await gateway.run(principal, ApproveDocument, { key, input: { proposalId } })).approve;

it('an adjustment above the threshold is listed, approved by another admin, and shown with both names', async () => {
  const key = gateway.key();
  const { proposal, replayed } = await propose(key);
  expect(replayed).toBe(false);
  const open = {
    id: proposal.id,
    kind: 'ADJUSTMENT',
    state: 'OPEN',
    accountId: 'alice',
    asset: 'ECOPAY',
    amount: '250.00',
    finding: null,
    reason: 'goodwill',
    proposedBy: 'root',
    proposedAt: new Date(gateway.clock.nowMs()).toISOString(),
    expiresAt: new Date(gateway.clock.nowMs() + 7 * 86_400_000).toISOString(),
    decidedBy: null,
    decidedAt: null,
    decisionReason: null,
    entry: null,
  };
  expect(proposal).toEqual(open);
  const { proposals } = dataOf(await gateway.run(SECOND, ProposalsDocument, {}));
  expect(proposals?.edges.map(({ node }) => node)).toEqual([open]);

  const own = await answerOf(ADMIN, proposal.id);
  expect(own).toMatchObject({
    __typename: 'SecondAdminRequired',
    retry: 'NEVER',
    message: 'Another admin than the one who proposed it has to approve.',
    proposal: { id: proposal.id, state: 'OPEN' },
  });

  const approval = gateway.key();
  const approved = await answerOf(SECOND, proposal.id, approval);
  if (approved.__typename !== 'ApproveSuccess') throw new Error(approved.__typename);
  expect(approved).toMatchObject({
    replayed: false,
    balance: { amount: '250.00' },
    entry: { operation: 'ADJUSTMENT', actor: 'root', approver: 'second' },
    proposal: { state: 'APPROVED', decidedBy: 'second', entry: { id: approved.entry.id } },
  });
  expect(await answerOf(SECOND, proposal.id, approval)).toEqual({ ...approved, replayed: true });
  expect(await answerOf(SECOND, proposal.id)).toMatchObject({
    __typename: 'ProposalNotOpen',
    message: "The proposal can't be decided on: it is APPROVED.",
    proposal: { state: 'APPROVED' },
  });
  const again = await propose(key);
  expect(again).toMatchObject({ replayed: true, proposal: { id: proposal.id, state: 'APPROVED' } });
  expect(dataOf(await gateway.run(SECOND, ProposalsDocument, {})).proposals?.edges).toEqual([]);
});

it('one that is rejected is closed, with the reason', async () => {
  const { proposal } = await propose();
  const input = { proposalId: proposal.id, reason: 'not agreed' };
  const variables = { key: gateway.key(), input };
  const { rejectProposal } = dataOf(await gateway.run(SECOND, RejectProposalDocument, variables));
  expect(rejectProposal).toMatchObject({
    __typename: 'RejectProposalSuccess',
    proposal: { state: 'REJECTED', decidedBy: 'second', decisionReason: 'not agreed', entry: null },
  });
  expect(await answerOf(SECOND, proposal.id)).toMatchObject({ proposal: { state: 'REJECTED' } });
});

it('a proposal is a node to admins of its tenant, and nothing to anybody else', async () => {
  const { proposal } = await propose();
  const nodeAs = async (principal: Principal) =>
    dataOf(await gateway.run(principal, NodeDocument, { id: proposal.id })).node;
  expect(await nodeAs(SECOND)).toEqual({ __typename: 'Proposal', id: proposal.id });
  expect(await nodeAs(ALICE)).toBeNull();
  expect(await nodeAs(FOREIGN_ADMIN)).toBeNull();
  expect(await answerOf(FOREIGN_ADMIN, proposal.id)).toMatchObject({ __typename: 'NotFound' });
});
