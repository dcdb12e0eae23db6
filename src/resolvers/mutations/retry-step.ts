import { retryStep } from '../../ledger/operations/retry-step.ts';
import { builder } from '../../schema/builder.ts';
import { RetryStepResult } from '../../schema/results/retry-step-result.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('retryStep', (t) =>
  t.field({
    type: RetryStepResult,
    description: 'Admin: puts a DEAD step back to work; on any other step it changes nothing.',
    authScopes: { permission: 'RETRY_STEP' },
    args: { id: t.arg.id({ required: true, description: 'The `id` of the step.' }) },
    resolve: (_root, { id }, context) =>
      runOperation(context, 'retryStep', (ledger) => retryStep(ledger, context.viewer, id)),
  }),
);
