import type { AssetRule, Tenant } from '../../../config/tenants.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import type { PlanPart } from '../../items/plan.ts';
import { type Decimal, ZERO, negate } from '../../kernel/money.ts';
import { type Entry, ledgerAccount } from '../../model/entries/entry.ts';
import type { Stored } from '../../model/outcomes.ts';
import type { ProposedAdjustment } from '../../model/proposal.ts';
import { type FailedConditions, type Refusal, whenInsufficient } from '../runtime/outcomes.ts';
import { capCredit } from './cap.ts';

export type AdjustmentRefusal = Refusal<Stored<'InsufficientBalance' | 'CapExceeded'>>;

export interface AllowedAdjustment {
  readonly kind: 'ALLOWED';
  readonly part: PlanPart;
  readonly whenRefused: (failed: FailedConditions) => AdjustmentRefusal | undefined;
}

/** Whose the adjustment is, why it is made and by whom: all of its entry but what it moves. */
export type AdjustmentEntry = Omit<Entry, 'operation' | 'postings'>;

/** The entry of an adjustment: never below zero, never up past the cap, as the database judges at the commit. */
export function bookAdjustment(
  tenant: Tenant,
  rule: AssetRule,
  details: AdjustmentEntry,
  { asset, amount }: ProposedAdjustment,
  balance: Decimal,
): AllowedAdjustment | AdjustmentRefusal {
  const raises = amount.gt(ZERO);
  const capped = raises ? capCredit(rule, amount, balance) : undefined;
  if (capped?.kind === 'REFUSE') return capped;
  const wallet = ledgerAccount.wallet(details.accountId);
  const entry: Entry = {
    ...details,
    operation: 'ADJUSTMENT',
    postings: [
      raises
        ? { debit: ledgerAccount.issuer, credit: wallet, asset, amount }
        : { debit: wallet, credit: ledgerAccount.issuer, asset, amount: negate(amount) },
    ],
  };
  return {
    kind: 'ALLOWED',
    part: recordEntry(entry, capped?.guards),
    whenRefused: capped?.whenRefused ?? whenInsufficient(tenant, asset, negate(amount)),
  };
}
