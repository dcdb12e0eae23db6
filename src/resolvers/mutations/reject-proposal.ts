import { rejectProposal } from '../../ledger/usecases/commands/reject-proposal.ts';
import { builder } from '../../schema/builder.ts';
import { LEDGER_FAILURES, ProposalNotOpen } from '../../schema/failures.ts';
import { PROPOSAL_NOW, guardedSuccess, resultUnion } from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const RejectProposalInput = builder.inputType('RejectProposalInput', {
  description: 'What an admin rejects.',
  fields: (t) => ({
    proposalId: t.id({ description: 'The `id` of the proposal.', required: true }),
    reason: t.string({ description: 'Why, for the record, 1 to 200 characters.', required: true }),
  }),
});

const RejectProposalSuccess = guardedSuccess('RejectProposalSuccess', (t) => ({
  proposal: t.field(PROPOSAL_NOW),
}));

guardedMutation('rejectProposal', {
  description: 'Admin: closes a proposal, and nothing of it is done. Its proposer takes it back in this way.',
  permission: 'REJECT_PROPOSAL',
  input: RejectProposalInput,
  result: resultUnion('rejectProposal', RejectProposalSuccess, [ProposalNotOpen, ...LEDGER_FAILURES]),
  run: rejectProposal,
});
