import { mayPerform } from '../../../auth/permissions.ts';
import { type Viewer, principalOf } from '../../../auth/viewer.ts';
import type { AuditProblem } from '../../audit/audit.ts';
import { findingId } from '../../audit/finding-kind.ts';
import { problemKey } from '../../audit/menders.ts';
import { plan } from '../../items/plan.ts';
import { putProposal, readProposal } from '../../items/proposal-item.ts';
import { proposalKey } from '../../kernel/keys.ts';
import { PROPOSAL_LIFE_MS, type Proposal } from '../../model/proposal.ts';
import { type Ledger, commit } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { examine } from './examine.ts';

export type RepairProposed =
  | { readonly kind: 'PROPOSED'; readonly proposal: Proposal }
  | { readonly kind: 'BY_HAND'; readonly instead: string }
  /** `NOT_ALLOWED`: no admin, or of another tenant. `UNKNOWN`: nobody knows whether it was stored; propose it again. */
  | { readonly kind: 'NOT_ALLOWED' | 'GONE' | 'MOVING' | 'UNKNOWN' };

/** Stores the exact writes that mend a finding, for another admin to approve. Changes nothing else. */
export async function proposeRepair(
  ledger: Ledger,
  viewer: Viewer,
  found: AuditProblem,
  reason: string,
): Promise<RepairProposed> {
  const { tenant, accountId } = found;
  if (viewer.tenant !== tenant || !mayPerform(viewer.role, 'REPAIR')) return { kind: 'NOT_ALLOWED' };
  const examined = await examine(ledger, found, problemKey(found), findingId(found));
  if (examined.kind !== 'FOUND') return examined;
  const { mended, problem } = examined;
  if (mended.kind === 'BY_HAND') return mended;
  const nowMs = ledger.clock.nowMs();
  const proposal: Proposal = {
    tenant,
    accountId,
    proposalId: ledger.ids.ulid(nowMs),
    state: 'OPEN',
    repair: { findingId: findingId(problem), finding: findingText(problem), writes: mended.writes },
    reason,
    proposer: principalOf(viewer),
    proposedAtMs: nowMs,
    expiresAtMs: nowMs + PROPOSAL_LIFE_MS,
  };
  const result = await commit(ledger, plan(ledger.ids.token(), putProposal(proposal)));
  // Its id is new, so that whatever is there under it is this proposal.
  const isStored =
    result.kind === 'COMMITTED' ||
    (await readItem(ledger, proposalKey(proposal), readProposal)) !== undefined;
  return isStored ? { kind: 'PROPOSED', proposal } : { kind: 'UNKNOWN' };
}

/** A finding in a line: what is off, and by how much. */
export function findingText({ tenant, accountId, item, what, expected, found }: AuditProblem): string {
  return `${tenant}#${accountId} ${item} ${what}: expected ${expected}, found ${found}`;
}
