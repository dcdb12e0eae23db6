import {
  type RetryStepSuccess as RetryStepOutcome,
  retryStep,
} from '../../ledger/usecases/steps/retry-step.ts';
import { builder } from '../../schema/builder.ts';
import { NotFound, Throttled, TransactionConflict } from '../../schema/failures.ts';
import { present } from '../../schema/present.ts';
import { StepType } from '../../schema/refs.ts';
import { outcomeOrder, resultUnion } from '../../schema/results.ts';
import { mutation } from '../declare-mutation.ts';

const RetryStepSuccess = builder.objectRef<RetryStepOutcome>('RetryStepSuccess').implement({
  description: 'The step is at work again, or needed no help.',
  fields: (t) => ({
    step: t.field({
      description: 'As it is now.',
      type: StepType,
      resolve: async (outcome, args, context) => {
        const order = await outcomeOrder(outcome, args, context);
        const step = order.steps.find(({ name }) => name === outcome.stepName);
        return { order, step: present(step, "an outcome's step") };
      },
    }),
  }),
});

mutation('retryStep', {
  description: 'Admin: puts a DEAD step back to work; on any other step it changes nothing.',
  permission: 'RETRY_STEP',
  args: (arg) => ({ id: arg.id({ required: true, description: 'The `id` of the step.' }) }),
  result: resultUnion('retryStep', RetryStepSuccess, [TransactionConflict, Throttled, NotFound]),
  run: (ledger, viewer, { id }) => retryStep(ledger, viewer, id),
});
