import { z } from 'zod';
import { type Viewer, principalOf } from '../../../auth/viewer.ts';
import { decideProposal, readProposal } from '../../items/proposal-item.ts';
import { proposalKey } from '../../kernel/keys.ts';
import { type Answered, type LedgerFailure, NOT_FOUND } from '../../model/outcomes.ts';
import { runLedgerCommand } from '../runtime/guarded-command.ts';
import { parseInput, proposalRefOf, shortText } from '../runtime/input.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { notOpen } from './proposal-refusals.ts';

type RejectKind = 'RejectProposalSuccess' | 'ProposalNotOpen';
export type RejectProposalOutcome = Answered<RejectKind> | LedgerFailure;

const inputSchema = z.strictObject({ proposalId: z.string(), reason: shortText(200) });

/** Closes a proposal without its effect. Any admin may, the proposer too: that withdraws it. */
export async function rejectProposal(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: z.input<typeof inputSchema>,
): Promise<RejectProposalOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { reason } = parsed.value;
  const ref = proposalRefOf(viewer.tenant, parsed.value.proposalId);
  if (ref === undefined) return NOT_FOUND;
  return runLedgerCommand<RejectKind>(ledger, viewer, {
    operation: 'rejectProposal',
    key,
    input: parsed.value,
    reads: [proposalKey(ref)],
    decide: ([item], nowMs) => {
      if (item === undefined) return { kind: 'ANSWER', failure: NOT_FOUND };
      const proposal = readProposal(item);
      const refusal = notOpen(proposal, nowMs);
      if (refusal !== undefined) return refusal;
      const { accountId, proposalId } = proposal;
      const decision = { by: principalOf(viewer), atMs: nowMs, reason };
      return {
        kind: 'COMMIT',
        parts: [decideProposal(proposal, 'REJECTED', decision)],
        outcome: { kind: 'RejectProposalSuccess', accountId, proposalId },
      };
    },
  });
}
