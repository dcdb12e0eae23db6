import { type StoredItem, readKeyParts, toAttributes } from '../kernel/attributes.ts';
import {
  decimalAt,
  integerAt,
  listAt,
  mapAt,
  oneOfAt,
  optionalField,
  record,
  textAt,
} from '../kernel/codec.ts';
import { integer } from '../kernel/integers.ts';
import { PREFIX, type ProposalRef, proposalKey } from '../kernel/keys.ts';
import {
  type Proposal,
  type ProposalDecision,
  type ProposedAdjustment,
  type ProposedRepair,
  type ProposedWrite,
  STORED_PROPOSAL_STATES,
} from '../model/proposal.ts';
import { type PlanPart, putNew } from './plan.ts';

const ADJUSTMENT = record<ProposedAdjustment>({ asset: textAt('a'), amount: decimalAt('n') });

const WRITE = record<ProposedWrite>({
  uuid: textAt('u'),
  type: textAt('t'),
  before: textAt('b'),
  after: textAt('f'),
  read: textAt('r'),
});

const REPAIR = record<ProposedRepair>({
  findingId: textAt('i'),
  finding: textAt('f'),
  writes: listAt('w', WRITE),
});

const DECISION = record<ProposalDecision>({
  by: textAt('w'),
  atMs: integerAt('t'),
  reason: optionalField(textAt('r')),
  entryId: optionalField(textAt('e')),
  transactionId: optionalField(textAt('x')),
});

/** Every field of a proposal but those of its key, by the name that it is stored under. */
const PROPOSAL = record<Omit<Proposal, keyof ProposalRef>>({
  state: oneOfAt('state', STORED_PROPOSAL_STATES),
  adjustment: optionalField(mapAt('adjustment', ADJUSTMENT)),
  repair: optionalField(mapAt('repair', REPAIR)),
  reason: textAt('reason'),
  proposer: textAt('proposer'),
  proposedAtMs: integerAt('proposed_at'),
  expiresAtMs: integerAt('expires_at'),
  decision: optionalField(mapAt('decision', DECISION)),
});

/** The partition of the `listed` index that holds a tenant's open proposals, by when they expire. */
export function proposalList(tenant: string): string {
  return `proposal#${tenant}`;
}

export function putProposal(proposal: Proposal): PlanPart {
  return {
    items: [
      putNew('proposal', {
        ...proposalKey(proposal),
        ...PROPOSAL.write(proposal),
        listed: proposalList(proposal.tenant),
        listed_at: integer(proposal.expiresAtMs),
      }),
    ],
  };
}

/** Decides on a proposal, on the condition that it is still open: whoever comes second is refused. */
export function decideProposal(
  proposal: Proposal,
  state: Exclude<Proposal['state'], 'OPEN'>,
  decision: ProposalDecision,
): PlanPart {
  return {
    items: [
      {
        role: 'proposal',
        item: {
          Update: {
            Key: toAttributes({ ...proposalKey(proposal) }),
            UpdateExpression: 'SET #state = :state, #decision = :decision REMOVE #listed, #listed_at',
            ConditionExpression: '#state = :open AND #expires_at > :now',
            ExpressionAttributeNames: {
              '#state': 'state',
              '#decision': 'decision',
              '#listed': 'listed',
              '#listed_at': 'listed_at',
              '#expires_at': 'expires_at',
            },
            ExpressionAttributeValues: toAttributes({
              ':state': state,
              ':decision': DECISION.write(decision),
              ':open': 'OPEN',
              ':now': integer(decision.atMs),
            }),
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      },
    ],
  };
}

/** Reads a proposal item. Throws MalformedItemError. */
export function readProposal(item: StoredItem): Proposal {
  const [tenant, accountId, proposalId] = readKeyParts(item, PREFIX.proposal);
  return { tenant, accountId, proposalId, ...PROPOSAL.read(item) };
}
