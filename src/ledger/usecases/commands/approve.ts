import { z } from 'zod';
import { type Viewer, principalOf, subjectOf } from '../../../auth/viewer.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { decideProposal, readProposal } from '../../items/proposal-item.ts';
import { balanceKey, proposalKey } from '../../kernel/keys.ts';
import { type Answered, type LedgerFailure, NOT_FOUND, invalid } from '../../model/outcomes.ts';
import type { Proposal } from '../../model/proposal.ts';
import { type Decision, runLedgerCommand } from '../runtime/guarded-command.ts';
import { amountIssue, invalidWith, parseInput, proposalRefOf } from '../runtime/input.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { UNKNOWN_ASSET } from '../runtime/outcomes.ts';
import { bookAdjustment } from './book-adjustment.ts';
import { notByProposer, notOpen } from './proposal-refusals.ts';

type ApproveKind =
  'ApproveSuccess' | 'ProposalNotOpen' | 'SecondAdminRequired' | 'InsufficientBalance' | 'CapExceeded';
export type ApproveOutcome = Answered<ApproveKind> | LedgerFailure;

const inputSchema = z.strictObject({ proposalId: z.string() });

const IS_A_REPAIR = invalid(
  ['proposalId'],
  'not_allowed',
  'a repair of the table is approved with npm run repair, where its writes are shown',
);

/**
 * Approves an adjustment that another admin proposed: the proposal's state, the balance and the entry, which names both,
 * commit together. What the balance refuses leaves the proposal open.
 */
export async function approve(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: z.input<typeof inputSchema>,
): Promise<ApproveOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const ref = proposalRefOf(viewer.tenant, parsed.value.proposalId);
  if (ref === undefined) return NOT_FOUND;
  return runLedgerCommand<ApproveKind>(ledger, viewer, {
    operation: 'approve',
    key,
    input: parsed.value,
    reads: [proposalKey(ref)],
    decide: ([item], nowMs) =>
      item === undefined
        ? { kind: 'ANSWER', failure: NOT_FOUND }
        : decide(ledger, viewer, readProposal(item), nowMs),
  });
}

async function decide(
  ledger: Ledger,
  viewer: Viewer,
  proposal: Proposal,
  nowMs: number,
): Promise<Decision<ApproveKind>> {
  const { accountId, proposalId, adjustment, proposer, reason } = proposal;
  const refusal = notOpen(proposal, nowMs) ?? notByProposer(proposal, viewer);
  if (refusal !== undefined) return refusal;
  if (adjustment === undefined) return { kind: 'ANSWER', failure: IS_A_REPAIR };
  const { asset, amount } = adjustment;
  const tenant = tenantOf(ledger, viewer.tenant);
  const rule = tenant.assets.get(asset);
  if (rule === undefined) return { kind: 'ANSWER', failure: UNKNOWN_ASSET };
  const issue = amountIssue(['proposalId'], amount, rule.scale, { signed: true });
  if (issue !== undefined) return { kind: 'ANSWER', failure: invalidWith(issue) };

  const [balance] = await ledger.store.get([balanceKey({ tenant: viewer.tenant, accountId, asset })]);
  const entryId = ledger.ids.ulid(nowMs);
  const details = {
    tenant: viewer.tenant,
    accountId,
    entryId,
    reason,
    actor: subjectOf(proposer),
    approver: viewer.subject,
    proposalId,
    atMs: nowMs,
  };
  const allowed = bookAdjustment(tenant, rule, details, adjustment, balanceOf(balance));
  if (allowed.kind === 'REFUSE') return allowed;
  const decision = { by: principalOf(viewer), atMs: nowMs, entryId };
  return {
    kind: 'COMMIT',
    parts: [decideProposal(proposal, 'APPROVED', decision), allowed.part],
    outcome: { kind: 'ApproveSuccess', accountId, proposalId, asset, entryId },
    whenRefused: allowed.whenRefused,
  };
}
