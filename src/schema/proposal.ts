import { subjectOf } from '../auth/viewer.ts';
import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { type Proposal, proposalState } from '../ledger/model/proposal.ts';
import { amountText } from './amounts.ts';
import type { BuilderTypes } from './builder.ts';
import { ITEM_COST } from './costs.ts';
import { ProposalKindEnum, ProposalStateEnum } from './enums.ts';
import { Node, nodeId } from './node.ts';
import { EntryType, ProposalType } from './refs.ts';

ProposalType.implement({
  description: 'Something that one admin proposes and another one decides on. It is kept for ever.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ tenant, accountId, proposalId }) =>
      encodeNodeId('Proposal', tenant, accountId, proposalId),
    ),
    kind: t.field({
      type: ProposalKindEnum,
      description: 'What it is about.',
      resolve: ({ repair }) => (repair === undefined ? 'ADJUSTMENT' : 'REPAIR'),
    }),
    state: t.field({
      type: ProposalStateEnum,
      description: 'What became of it.',
      resolve: (proposal, _args, { ledger }) => proposalState(proposal, ledger.clock.nowMs()),
    }),
    accountId: t.exposeID('accountId', {
      description: "Whose account it is about, by the operator's own name for the account.",
    }),
    asset: t.string({
      description: 'Of an adjustment: which balance. Null: a repair.',
      nullable: true,
      resolve: ({ adjustment }) => adjustment?.asset,
    }),
    amount: t.field({
      type: 'Decimal',
      description: "Of an adjustment: signed, in the asset's full scale. Null: a repair.",
      nullable: true,
      resolve: ({ tenant, adjustment }, _args, { ledger }) =>
        adjustment && amountText(ledger, tenant, adjustment.asset, adjustment.amount),
    }),
    finding: t.string({
      description: 'Of a repair: what the audit found. Null: an adjustment.',
      nullable: true,
      resolve: ({ repair }) => repair?.finding,
    }),
    ...signatures(t),
    entry: t.field({
      type: EntryType,
      description: 'What an approved adjustment booked. Null: nothing was booked.',
      nullable: true,
      complexity: ITEM_COST,
      resolve: ({ tenant, accountId, decision }, _args, { load }) =>
        decision?.entryId === undefined ? null : load.entry({ tenant, accountId, entryId: decision.entryId }),
    }),
  }),
});

type ProposalFields = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, Proposal>;

/** Who proposed it and who decided, when, and why. */
function signatures(t: ProposalFields) {
  return {
    reason: t.exposeString('reason', { description: 'Why it was proposed.' }),
    proposedBy: t.string({
      description: 'The `subject` of the admin who proposed it.',
      resolve: ({ proposer }) => subjectOf(proposer),
    }),
    proposedAt: t.expose('proposedAtMs', { type: 'DateTime', description: 'When it was proposed.' }),
    expiresAt: t.expose('expiresAtMs', {
      type: 'DateTime',
      description: 'Until when it can be decided on.',
    }),
    decidedBy: t.string({
      description: 'The `subject` of the admin who decided. Null: nobody has.',
      nullable: true,
      resolve: ({ decision }) => decision && subjectOf(decision.by),
    }),
    decidedAt: t.field({
      type: 'DateTime',
      description: 'When that was. Null: nobody has decided.',
      nullable: true,
      resolve: ({ decision }) => decision?.atMs,
    }),
    decisionReason: t.string({
      description: 'Why it was rejected. Null: it was not.',
      nullable: true,
      resolve: ({ decision }) => decision?.reason,
    }),
  };
}
