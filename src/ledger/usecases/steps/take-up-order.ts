import { sweepDueAtMs } from '../../model/orders/due.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import type { Order, Step } from '../../model/orders/order.ts';
import type { UnstoredOf } from '../../model/outcomes.ts';
import { type StepPolicy, claimDueSteps, confirmOrder, ownSteps } from '../../model/orders/steps.ts';
import { changeOrder } from '../runtime/change-order.ts';
import type { Ledger } from '../runtime/ledger.ts';

/** What a due order turned out to need. */
export type TakenUp =
  | {
      readonly kind: 'TAKEN';
      readonly order: Order;
      /** The steps that are this owner's now: to be run and finished within the lease. */
      readonly steps: readonly Step[];
      /** Steps that had used up their runs and were found so. */
      readonly deadLettered: readonly Step[];
      readonly confirmed: boolean;
      /** Whether it is also due for what only the provider knows. */
      readonly sweep: boolean;
    }
  | { readonly kind: 'GONE' }
  | { readonly kind: 'FAILED'; readonly failure: UnstoredOf<'TransactionConflict' | 'Throttled'> };

/**
 * Takes up a due order: claims its due steps for one owner, or confirms it where everything is done. One read and at
 * most one write; an order that another worker was faster with is TAKEN with nothing to do.
 * @param owner unguessable and used for this call alone: it tells this claim from every other one
 */
export async function takeUpOrder(
  ledger: Ledger,
  ref: OrderRef,
  owner: string,
  policy: StepPolicy,
): Promise<TakenUp> {
  const change = await changeOrder(ledger, ref, (order, nowMs) => {
    // After a lost answer the claim may be there already.
    if (ownSteps(order, owner).length > 0) return undefined;
    return claimDueSteps(order, owner, policy, nowMs) ?? confirmOrder(order, nowMs);
  });
  if (change.kind === 'GONE' || change.kind === 'FAILED') return change;
  const order = change.kind === 'CHANGED' ? change.after : change.order;
  const sweepAtMs = sweepDueAtMs(order, ledger.settings);
  return {
    kind: 'TAKEN',
    order,
    steps: ownSteps(order, owner),
    deadLettered: change.kind === 'CHANGED' ? deadLetteredSteps(change.before, change.after) : [],
    confirmed: change.kind === 'CHANGED' && change.after.state !== change.before.state,
    sweep: sweepAtMs !== undefined && sweepAtMs <= ledger.clock.nowMs(),
  };
}

function deadLetteredSteps(before: Order, after: Order): readonly Step[] {
  return after.steps.filter(
    (step) =>
      step.state === 'DEAD' && before.steps.some((was) => was.name === step.name && was.state === 'PENDING'),
  );
}
