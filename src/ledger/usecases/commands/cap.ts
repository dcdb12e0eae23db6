import type { AssetRule } from '../../../config/tenants.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { checkRoom } from '../../items/entry-writes.ts';
import type { PlanPart } from '../../items/plan.ts';
import type { BalanceRef } from '../../kernel/keys.ts';
import { type Decimal, ZERO, add, formatDecimal, subtract } from '../../kernel/money.ts';
import type { BalanceGuard } from '../../model/entries/entry.ts';
import type { Stored } from '../../model/outcomes.ts';
import type { FailedConditions, Refusal } from '../runtime/outcomes.ts';

type CapRefusal = Refusal<Stored<'CapExceeded'>>;

/** A credit that an asset's cap allows as far as is known: the commit holds it to that. */
export interface CappedCredit {
  readonly kind: 'ALLOWED';
  readonly guards: Readonly<Record<string, BalanceGuard>>;
  readonly whenRefused: (failed: FailedConditions) => CapRefusal | undefined;
}

/**
 * Holds a credit at once to the cap, by a condition on the balance at the commit. An amount above the whole cap can't be
 * left to that condition, whose bound would be below zero: it is refused here.
 */
export function capCredit(rule: AssetRule, amount: Decimal, balance: Decimal): CappedCredit | CapRefusal {
  const { asset, cap } = rule;
  if (cap === undefined) return { kind: 'ALLOWED', guards: {}, whenRefused: () => undefined };
  if (amount.gt(cap)) return overCap(rule, cap, balance);
  return {
    kind: 'ALLOWED',
    guards: { [asset]: { kind: 'WITHIN', cap } },
    whenRefused: whenOverCap(rule, cap),
  };
}

/** A card top-up that the cap allows as far as is known: the claim checks it in its own transaction. */
export interface CappedClaim {
  readonly kind: 'ALLOWED';
  readonly parts: readonly PlanPart[];
  readonly whenRefused: (failed: FailedConditions) => CapRefusal | undefined;
}

/** Holds the claim of a card top-up to the cap: nothing is credited yet, and what was paid will be, without a cap. */
export function capClaim(
  rule: AssetRule,
  account: Omit<BalanceRef, 'asset'>,
  amount: Decimal,
  balance: Decimal,
): CappedClaim | CapRefusal {
  const { asset, cap } = rule;
  if (cap === undefined) return { kind: 'ALLOWED', parts: [], whenRefused: () => undefined };
  if (add(balance, amount).gt(cap)) return overCap(rule, cap, balance);
  return {
    kind: 'ALLOWED',
    parts: [{ items: [checkRoom({ ...account, asset }, amount, cap)] }],
    whenRefused: whenOverCap(rule, cap),
  };
}

/** What it means that a condition on room under the cap failed; undefined: it was another condition. */
function whenOverCap(rule: AssetRule, cap: Decimal): CappedCredit['whenRefused'] {
  const role = `balance:${rule.asset}` as const;
  return (failed) => (failed.has(role) ? overCap(rule, cap, balanceOf(failed.get(role))) : undefined);
}

/** How much more fits: never below zero, though refunds and card money may stand above the cap. */
function overCap({ asset, scale }: AssetRule, cap: Decimal, balance: Decimal): CapRefusal {
  const room = balance.gt(cap) ? ZERO : subtract(cap, balance);
  return {
    kind: 'REFUSE',
    outcome: { kind: 'CapExceeded', asset, cap: formatDecimal(cap, scale), room: formatDecimal(room, scale) },
  };
}
