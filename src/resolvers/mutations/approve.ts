import { approve } from '../../ledger/usecases/commands/approve.ts';
import { builder } from '../../schema/builder.ts';
import {
  CapExceeded,
  InsufficientBalance,
  LEDGER_FAILURES,
  ProposalNotOpen,
  SecondAdminRequired,
} from '../../schema/failures.ts';
import {
  BALANCE_NOW,
  ENTRY_OF_OPERATION,
  PROPOSAL_NOW,
  guardedSuccess,
  resultUnion,
} from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const ApproveInput = builder.inputType('ApproveInput', {
  description: 'What a second admin approves.',
  fields: (t) => ({
    proposalId: t.id({ description: 'The `id` of the proposal.', required: true }),
  }),
});

const ApproveSuccess = guardedSuccess('ApproveSuccess', (t) => ({
  proposal: t.field(PROPOSAL_NOW),
  entry: t.field(ENTRY_OF_OPERATION),
  balance: t.field(BALANCE_NOW),
}));

guardedMutation('approve', {
  description:
    'Admin: approves an adjustment that another admin proposed, and books it. What the balance refuses leaves the proposal open.',
  permission: 'APPROVE',
  input: ApproveInput,
  result: resultUnion('approve', ApproveSuccess, [
    ProposalNotOpen,
    SecondAdminRequired,
    InsufficientBalance,
    CapExceeded,
    ...LEDGER_FAILURES,
  ]),
  run: approve,
});
