import type { PlantedBug } from './planted-bug.ts';

const PROPOSALS = ['test/integration/ledger/proposals.test.ts'];

/** What needs a second admin. */
export const REPAIR: readonly PlantedBug[] = [
  {
    name: 'who proposes an adjustment approves it',
    file: 'src/ledger/usecases/commands/approve.ts',
    from: 'notOpen(proposal, nowMs) ?? notByProposer(proposal, viewer)',
    to: 'notOpen(proposal, nowMs)',
    tests: PROPOSALS,
    only: 'refused to whoever proposed it',
  },
  {
    name: 'taking away needs no second admin',
    file: 'src/ledger/usecases/commands/adjust-balance.ts',
    from: 'amount.abs().gt(approvalAbove)',
    to: 'amount.gt(approvalAbove)',
    tests: PROPOSALS,
    only: 'waits for approval',
  },
  {
    name: 'a proposal is decided on twice',
    file: 'src/ledger/items/proposal-item.ts',
    from: "ConditionExpression: '#state = :open AND #expires_at > :now',",
    to: "ConditionExpression: '(#state = :open OR attribute_exists(#state)) AND #expires_at > :now',",
    tests: PROPOSALS,
    only: 'at once',
  },
  {
    name: 'a proposal can be approved for ever',
    file: 'src/ledger/model/proposal.ts',
    from: "state === 'OPEN' && nowMs >= expiresAtMs ?",
    to: "state === 'OPEN' && nowMs >= 2 * expiresAtMs ?",
    tests: PROPOSALS,
    only: 'decided on or too old',
  },
  {
    name: 'an approved adjustment hides who approved it',
    file: 'src/ledger/model/entries/entry.ts',
    from: '    approver: entry.approver,\n',
    to: '',
    tests: PROPOSALS,
    only: 'both names on it',
  },
];
