import type { PlantedBug } from './planted-bug.ts';

const PROPOSALS = ['test/integration/ledger/proposals.test.ts'];

const REPAIRS = ['test/integration/ledger/repair.test.ts'];

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
  {
    name: 'who proposes a repair approves it',
    file: 'src/ledger/usecases/repair/approve-repair.ts',
    from: 'subjectOf(proposal.proposer) === viewer.subject',
    to: 'proposal.proposer === viewer.subject',
    tests: REPAIRS,
    only: 'another admin of the same tenant',
  },
  {
    name: 'a repair is made though its account has changed',
    file: 'src/ledger/usecases/repair/approve-repair.ts',
    from: 'return JSON.stringify(examined.mended.writes) === JSON.stringify([write]);',
    to: 'return JSON.stringify(examined.mended.writes).length > 0;',
    tests: REPAIRS,
    only: 'come or gone since',
  },
  {
    name: 'a repair is made over a change that came while it was judged',
    file: 'src/ledger/items/item-repair.ts',
    from: '    ...asRead.map(([name]) => `${place(name)} = :b${String(names.indexOf(name))}`),\n',
    to: '    ...asRead.map(([name]) => `(${place(name)} = :b${String(names.indexOf(name))} OR attribute_exists(${place(name)}))`),\n',
    tests: REPAIRS,
    only: 'between reading and committing',
  },
  {
    name: 'a mended order leaves what can still be refunded as it was',
    file: 'src/ledger/audit/audit-order.ts',
    from: 'refundable: refundable({ ...order, refunded, refundPending }),',
    to: 'refundable: refundable(order),',
    tests: REPAIRS,
    only: 'counts its refunds wron',
  },
];
