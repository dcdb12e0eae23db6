import type { OrderRef } from '../../kernel/keys.ts';
import type { Order, Step } from '../../model/orders/order.ts';
import type { UnstoredOf } from '../../model/outcomes.ts';
import {
  type StepFailure,
  type StepPolicy,
  completeStep,
  failStep,
  releaseStep,
} from '../../model/orders/steps.ts';
import { changeOrder } from '../runtime/change-order.ts';
import type { Ledger } from '../runtime/ledger.ts';

/** How a run of a step ended. RELEASED: it was broken off because the worker stops, and doesn't count. */
export type StepOutcome =
  /** `refunds`: how many refunds of its overpayment the provider has now, where the step is about one. */
  { readonly kind: 'DONE'; readonly refunds?: number } | StepFailure | { readonly kind: 'RELEASED' };

/** What became of the step, as the order's record says now. */
export type FinishedStep =
  | {
      readonly kind: 'RECORDED';
      readonly order: Order;
      readonly state: Step['state'];
      readonly confirmed: boolean;
    }
  /** The lease had passed and another worker took the step up: this result is not the one that counts. */
  | { readonly kind: 'LOST' }
  | { readonly kind: 'FAILED'; readonly failure: UnstoredOf<'TransactionConflict' | 'Throttled'> };

/** Records how a step's run ended, on the condition that its owner still holds it: once, whoever else ran it. */
export async function finishStep(
  ledger: Ledger,
  ref: OrderRef,
  held: { readonly stepName: string; readonly owner: string },
  outcome: StepOutcome,
  policy: StepPolicy,
): Promise<FinishedStep> {
  const jitter = ledger.ids.fraction();
  const change = await changeOrder(ledger, ref, (order, nowMs) =>
    recorded(order, held, outcome, policy, nowMs, jitter),
  );
  switch (change.kind) {
    case 'GONE':
    case 'UNCHANGED':
      return { kind: 'LOST' };
    case 'FAILED':
      return change;
    case 'CHANGED': {
      const step = change.after.steps.find(({ name }) => name === held.stepName);
      return {
        kind: 'RECORDED',
        order: change.after,
        state: step?.state ?? 'PENDING',
        confirmed: change.after.state !== change.before.state,
      };
    }
  }
}

function recorded(
  order: Order,
  { stepName, owner }: { readonly stepName: string; readonly owner: string },
  outcome: StepOutcome,
  policy: StepPolicy,
  nowMs: number,
  jitter: number,
): Order | undefined {
  switch (outcome.kind) {
    case 'DONE':
      return completeStep(order, stepName, owner, nowMs, outcome.refunds);
    case 'RETRY':
    case 'GIVE_UP':
      return failStep(order, stepName, owner, outcome, policy, nowMs, jitter);
    case 'RELEASED':
      return releaseStep(order, stepName, owner, nowMs);
  }
}
