import type { RetryStepSuccess as RetryStepOutcome } from '../../ledger/operations/retry-step.ts';
import { builder } from '../builder.ts';
import { NotFound, Throttled, TransactionConflict } from '../failures.ts';
import { present } from '../present.ts';
import { StepType } from '../refs.ts';
import { outcomeOrder } from './outcome-fields.ts';

const RetryStepSuccess = builder.objectRef<RetryStepOutcome>('RetryStepSuccess').implement({
  fields: (t) => ({
    step: t.field({
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
  types: [RetryStepSuccess, TransactionConflict, Throttled, NotFound],
  resolveType: ({ kind }) => kind,
});
