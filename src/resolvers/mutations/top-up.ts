import { topUp } from '../../ledger/operations/top-up.ts';
import { builder } from '../../schema/builder.ts';
import { TopUpInput } from '../../schema/inputs/top-up-input.ts';
import { TopUpResult } from '../../schema/results/top-up-result.ts';
import { idempotencyKeyArgument } from '../../schema/scalars.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('topUp', (t) =>
  t.field({
    type: TopUpResult,
    description:
      'Adds value to a wallet: CASH at a terminal is credited at once, CHECKOUT when Stripe confirms.',
    authScopes: (_root, { input }) => ({
      permission: input.method === 'CASH' ? 'TOP_UP_CASH' : 'TOP_UP_CHECKOUT',
    }),
    args: {
      idempotencyKey: t.arg(idempotencyKeyArgument),
      input: t.arg({ type: TopUpInput, required: true, description: 'What is asked for.' }),
    },
    resolve: (_root, { idempotencyKey, input }, context) =>
      runOperation(context, 'topUp', (ledger) =>
        topUp(ledger, context.viewer, idempotencyKey ?? undefined, input),
      ),
  }),
);
