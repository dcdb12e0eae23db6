import { z } from 'zod';
import { maySkipStep } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { orderKey } from '../../kernel/keys.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { type Answered, type LedgerFailure, NOT_FOUND, invalid } from '../../model/outcomes.ts';
import { holdsMoney, letStepBe } from '../../model/orders/steps.ts';
import { runLedgerCommand } from '../runtime/guarded-command.ts';
import { orderRefOf, parseInput, shortText } from '../runtime/input.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { orderFor } from '../runtime/read-order.ts';

export type SkipStepOutcome = Answered<'SkipStepSuccess'> | LedgerFailure;

/** Short enough to stand on the timeline after any step's name. */
const MAX_REASON = 100;

const inputSchema = z.strictObject({
  orderId: z.string(),
  step: z.string().max(200),
  reason: shortText(MAX_REASON),
});

/** Lets a DEAD step be, for a reason. Not one that is to give money back while the money is still ours. */
export async function skipStep(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: unknown,
): Promise<SkipStepOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { orderId, step: stepName, reason } = parsed.value;
  const ref = orderRefOf(viewer.tenant, orderId);
  if (ref === undefined) return NOT_FOUND;
  return runLedgerCommand<'SkipStepSuccess'>(ledger, viewer, {
    operation: 'skipStep',
    key,
    input: { order: ref, stepName, reason },
    reads: [orderKey(ref)],
    decide: ([item], nowMs) => {
      const order = orderFor(viewer, item, maySkipStep);
      if (order === undefined || order.steps.every(({ name }) => name !== stepName))
        return { kind: 'ANSWER', failure: NOT_FOUND };
      if (holdsMoney(order, stepName)) {
        const failure = invalid(['step'], 'moves_money', 'it gives money back that is still here');
        return { kind: 'ANSWER', failure };
      }
      const after = letStepBe(order, stepName, { actor: viewer.subject, reason }, nowMs);
      if (after === undefined)
        return { kind: 'ANSWER', failure: invalid(['step'], 'not_dead', 'only a DEAD step can be skipped') };
      return {
        kind: 'COMMIT',
        parts: [updateOrder(order, after, ledger.settings)],
        outcome: { kind: 'SkipStepSuccess', accountId: ref.accountId, orderId: ref.orderId, stepName },
      };
    },
  });
}
