import type { RetryStepSuccess as RetryStepOutcome } from '../../ledger/operations/retry-step.ts';
import { builder } from '../builder.ts';
import { NotFound, Throttled, TransactionConflict } from '../failures.ts';
import { present } from '../present.ts';
import { StepType } from '../refs.ts';
import { outcomeOrder } from './outcome-fields.ts';

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

export const RetryStepResult = builder.unionType('RetryStepResult', {
  description:
    'What came of `retryStep`. More members may come: one that a client does not know is an unknown outcome.',
  types: [RetryStepSuccess, TransactionConflict, Throttled, NotFound],
  resolveType: ({ kind }) => kind,
});
