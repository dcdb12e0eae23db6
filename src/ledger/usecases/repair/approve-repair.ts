import { mayPerform } from '../../../auth/permissions.ts';
import { type Viewer, principalOf, subjectOf } from '../../../auth/viewer.ts';
import { repairItem } from '../../items/item-repair.ts';
import { plan } from '../../items/plan.ts';
import { decideProposal, readProposal } from '../../items/proposal-item.ts';
import { type ProposalRef, proposalKey } from '../../kernel/keys.ts';
import {
  type Proposal,
  type ProposalState,
  type ProposedWrite,
  proposalState,
} from '../../model/proposal.ts';
import { type CallStep, type Transaction, decideAndCommit } from '../runtime/decide-and-commit.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { type Examined, examine } from './examine.ts';

export type RepairApproved =
  | { readonly kind: 'APPROVED'; readonly proposal: Proposal }
  | { readonly kind: 'NOT_OPEN'; readonly state: ProposalState }
  /**
   * NOT_FOUND: no such repair of this tenant. OWN: another admin has to. CHANGED: the table isn't what it was when the
   * writes were computed; propose it anew. MOVING and UNKNOWN: ask again.
   */
  | { readonly kind: 'NOT_FOUND' | 'OWN' | 'CHANGED' | 'MOVING' | 'UNKNOWN' };

/**
 * Makes the writes of a repair that another admin proposed, if the very same writes still mend the finding. They commit
 * with the proposal, on the condition that it is open and that every item is as it was read.
 */
export function approveRepair(ledger: Ledger, viewer: Viewer, ref: ProposalRef): Promise<RepairApproved> {
  const tokens: string[] = [];
  return decideAndCommit<RepairApproved>(ledger, {
    decide: () => decideOnce(ledger, viewer, ref, tokens),
    failed: (failure) => ({ kind: failure === 'CONFLICT' ? 'MOVING' : 'UNKNOWN' }),
  });
}

async function decideOnce(
  ledger: Ledger,
  viewer: Viewer,
  ref: ProposalRef,
  tokens: string[],
): Promise<CallStep<RepairApproved> | Transaction<RepairApproved>> {
  const answer = (value: RepairApproved): CallStep<RepairApproved> => ({ kind: 'ANSWER', answer: value });
  if (viewer.tenant !== ref.tenant || !mayPerform(viewer.role, 'REPAIR'))
    return answer({ kind: 'NOT_FOUND' });
  const proposal = await readItem(ledger, proposalKey(ref), readProposal);
  const [write] = proposal?.repair?.writes ?? [];
  if (proposal?.repair === undefined || write === undefined) return answer({ kind: 'NOT_FOUND' });
  if (isOwn(proposal, tokens)) return answer({ kind: 'APPROVED', proposal });
  const nowMs = ledger.clock.nowMs();
  const state = proposalState(proposal, nowMs);
  if (state !== 'OPEN') return answer({ kind: 'NOT_OPEN', state });
  if (subjectOf(proposal.proposer) === viewer.subject) return answer({ kind: 'OWN' });
  const examined = await examine(ledger, ref, write, proposal.repair.findingId);
  if (examined.kind === 'MOVING') return answer({ kind: 'MOVING' });
  if (!stillMends(examined, write)) return answer({ kind: 'CHANGED' });

  const token = ledger.ids.token();
  tokens.push(token);
  const decision = { by: principalOf(viewer), atMs: nowMs, transactionId: token };
  const items = [repairItem(write, examined.item)];
  return {
    kind: 'COMMIT',
    plan: plan(token, decideProposal(proposal, 'APPROVED', decision), { items }),
    committed: () => ({ kind: 'APPROVED', proposal: { ...proposal, state: 'APPROVED', decision } }),
    resolve: async () => {
      const now = await readItem(ledger, proposalKey(ref), readProposal);
      return answer(
        now !== undefined && isOwn(now, tokens) ? { kind: 'APPROVED', proposal: now } : { kind: 'UNKNOWN' },
      );
    },
  };
}

/** Whether one of this very call's transactions has decided it: its answer was lost. */
function isOwn({ decision }: Proposal, tokens: readonly string[]): boolean {
  return decision?.transactionId !== undefined && tokens.includes(decision.transactionId);
}

function stillMends(
  examined: Examined,
  write: ProposedWrite,
): examined is Extract<Examined, { readonly kind: 'FOUND' }> {
  if (examined.kind !== 'FOUND' || examined.mended.kind !== 'WRITES') return false;
  return JSON.stringify(examined.mended.writes) === JSON.stringify([write]);
}
