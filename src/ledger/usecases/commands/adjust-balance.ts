import { z } from 'zod';
import type { Viewer } from '../../../auth/viewer.ts';
import type { Tenant } from '../../../config/tenants.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import { type Entry, ledgerAccount } from '../../model/entries/entry.ts';
import { balanceKey } from '../../kernel/keys.ts';
import { type Decimal, ZERO, negate } from '../../kernel/money.ts';
import type { Answered, LedgerFailure } from '../../model/outcomes.ts';
import { capCredit } from './cap.ts';
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
import { UNKNOWN_ASSET, whenInsufficient } from '../runtime/outcomes.ts';

type AdjustKind = 'AdjustBalanceSuccess' | 'InsufficientBalance' | 'CapExceeded';
export type AdjustBalanceOutcome = Answered<AdjustKind> | LedgerFailure;

const inputSchema = z.strictObject({
  accountId: idText,
  asset: assetText,
  amount: decimalText,
  reason: shortText(200),
});
type Input = z.output<typeof inputSchema>;

/** Corrects a balance by a signed amount, as an entry with a reason: never below zero, never up past the cap. */
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
  const raises = amount.gt(ZERO);
  const capped = raises ? capCredit(rule, amount, balance) : undefined;
  if (capped?.kind === 'REFUSE') return capped;
  const wallet = ledgerAccount.wallet(accountId);
  const entry: Entry = {
    tenant: viewer.tenant,
    accountId,
    entryId: ledger.ids.ulid(nowMs),
    operation: 'ADJUSTMENT',
    postings: [
      raises
        ? { debit: ledgerAccount.issuer, credit: wallet, asset, amount }
        : { debit: wallet, credit: ledgerAccount.issuer, asset, amount: negate(amount) },
    ],
    reason,
    actor: viewer.subject,
    atMs: nowMs,
  };
  return {
    kind: 'COMMIT',
    parts: [recordEntry(entry, capped?.guards)],
    outcome: { kind: 'AdjustBalanceSuccess', accountId, asset, entryId: entry.entryId },
    whenRefused: capped?.whenRefused ?? whenInsufficient(tenant, asset, negate(amount)),
  };
}
