import { skipStep } from '../../ledger/usecases/commands/skip-step.ts';
import { builder } from '../../schema/builder.ts';
import { LEDGER_FAILURES } from '../../schema/failures.ts';
import { ORDER_NOW, guardedSuccess, resultUnion } from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const SkipStepInput = builder.inputType('SkipStepInput', {
  description: 'Which step is to be let be, and why.',
  fields: (t) => ({
    orderId: t.id({ description: 'The `id` of the order.', required: true }),
    step: t.string({ description: "The step's `name`.", required: true }),
    reason: t.string({ description: 'For the timeline: up to 100 characters.', required: true }),
  }),
});

const SkipStepSuccess = guardedSuccess('SkipStepSuccess', (t) => ({
  order: t.field(ORDER_NOW),
}));

guardedMutation('skipStep', {
  description:
    'Merchant and admin: lets a DEAD step be. Not one that gives money back while the money is still here.',
  permission: 'SKIP_STEP',
  input: SkipStepInput,
  result: resultUnion('skipStep', SkipStepSuccess, LEDGER_FAILURES),
  run: skipStep,
});
