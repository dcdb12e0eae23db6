import { type Viewer, subjectOf } from '../../../auth/viewer.ts';
import type { Stored } from '../../model/outcomes.ts';
import { type Proposal, proposalState } from '../../model/proposal.ts';
import type { Refusal } from '../runtime/outcomes.ts';

/** A proposal that was decided on, or that nobody decided on in time, is closed for good. */
export function notOpen(proposal: Proposal, nowMs: number): Refusal<Stored<'ProposalNotOpen'>> | undefined {
  const state = proposalState(proposal, nowMs);
  if (state === 'OPEN') return undefined;
  const { accountId, proposalId } = proposal;
  return { kind: 'REFUSE', outcome: { kind: 'ProposalNotOpen', accountId, proposalId, state } };
}

/** Nobody approves what they proposed, whatever role or token they come with. */
export function notByProposer(
  { accountId, proposalId, proposer }: Proposal,
  viewer: Viewer,
): Refusal<Stored<'SecondAdminRequired'>> | undefined {
  if (subjectOf(proposer) !== viewer.subject) return undefined;
  return { kind: 'REFUSE', outcome: { kind: 'SecondAdminRequired', accountId, proposalId } };
}
