import { z } from 'zod';
import { type Viewer, principalOf } from '../../../auth/viewer.ts';
import type { AssetRule, Tenant } from '../../../config/tenants.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { putProposal } from '../../items/proposal-item.ts';
import { balanceKey } from '../../kernel/keys.ts';
import type { Decimal } from '../../kernel/money.ts';
import type { Answered, LedgerFailure } from '../../model/outcomes.ts';
import { PROPOSAL_LIFE_MS } from '../../model/proposal.ts';
import { type Decision, runLedgerCommand } from '../runtime/guarded-command.ts';
import {
  amountIssue,
  assetText,
  decimalText,
  idText,
  invalidWith,
  parseInput,
  shortText,
} from '../runtime/input.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { UNKNOWN_ASSET } from '../runtime/outcomes.ts';
import { bookAdjustment } from './book-adjustment.ts';

type AdjustKind = 'AdjustBalanceSuccess' | 'PendingApproval' | 'InsufficientBalance' | 'CapExceeded';
export type AdjustBalanceOutcome = Answered<AdjustKind> | LedgerFailure;

const inputSchema = z.strictObject({
  accountId: idText,
  asset: assetText,
  amount: decimalText,
  reason: shortText(200),
});
type Input = z.output<typeof inputSchema>;

/**
 * Corrects a balance by a signed amount, as an entry with a reason: never below zero, never up past the cap. Above the
 * tenant's threshold it only stores a proposal, which another admin approves.
 */
export async function adjustBalance(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: z.input<typeof inputSchema>,
): Promise<AdjustBalanceOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { value } = parsed;
  const tenant = tenantOf(ledger, viewer.tenant);
  const scale = tenant.assets.get(value.asset)?.scale;
  const issue =
    scale === undefined ? undefined : amountIssue(['amount'], value.amount, scale, { signed: true });
  if (issue !== undefined) return invalidWith(issue);
  return runLedgerCommand<AdjustKind>(ledger, viewer, {
    operation: 'adjustBalance',
    key,
    input: value,
    reads: [balanceKey({ tenant: viewer.tenant, accountId: value.accountId, asset: value.asset })],
    decide: ([balance], nowMs) => decide(ledger, viewer, { tenant, input: value }, balanceOf(balance), nowMs),
  });
}

interface Adjustment {
  readonly tenant: Tenant;
  readonly input: Input;
}

function decide(
  ledger: Ledger,
  viewer: Viewer,
  { tenant, input }: Adjustment,
  balance: Decimal,
  nowMs: number,
): Decision<AdjustKind> {
  const { accountId, asset, amount, reason } = input;
  // Judged after the idempotency record: an asset that has gone since must not break a replay.
  const rule = tenant.assets.get(asset);
  if (rule === undefined) return { kind: 'ANSWER', failure: UNKNOWN_ASSET };
  if (needsApproval(rule, amount)) return propose(ledger, viewer, input, nowMs);
  const entryId = ledger.ids.ulid(nowMs);
  const details = { tenant: viewer.tenant, accountId, entryId, reason, actor: viewer.subject, atMs: nowMs };
  const allowed = bookAdjustment(tenant, rule, details, input, balance);
  if (allowed.kind === 'REFUSE') return allowed;
  return {
    kind: 'COMMIT',
    parts: [allowed.part],
    outcome: { kind: 'AdjustBalanceSuccess', accountId, asset, entryId },
    whenRefused: allowed.whenRefused,
  };
}

function needsApproval({ approvalAbove }: AssetRule, amount: Decimal): boolean {
  return approvalAbove !== undefined && amount.abs().gt(approvalAbove);
}

/** Whether the balance allows it is judged when it is approved: it may be another one by then. */
function propose(
  ledger: Ledger,
  viewer: Viewer,
  { accountId, asset, amount, reason }: Input,
  nowMs: number,
): Decision<AdjustKind> {
  const proposalId = ledger.ids.ulid(nowMs);
  const proposal = putProposal({
    tenant: viewer.tenant,
    accountId,
    proposalId,
    state: 'OPEN',
    adjustment: { asset, amount },
    reason,
    proposer: principalOf(viewer),
    proposedAtMs: nowMs,
    expiresAtMs: nowMs + PROPOSAL_LIFE_MS,
  });
  return {
    kind: 'COMMIT',
    parts: [proposal],
    outcome: { kind: 'PendingApproval', accountId, proposalId },
  };
}
