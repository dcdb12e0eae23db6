import { adjustBalance } from '../../ledger/operations/adjust-balance.ts';
import { builder } from '../../schema/builder.ts';
import { AdjustBalanceInput } from '../../schema/inputs/adjust-balance-input.ts';
import { AdjustBalanceResult } from '../../schema/results/adjust-balance-result.ts';
import { idempotencyKeyArgument } from '../../schema/scalars.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('adjustBalance', (t) =>
  t.field({
    type: AdjustBalanceResult,
    description: 'Admin: corrects a balance by a signed amount, as an entry with a reason.',
    authScopes: { permission: 'ADJUST_BALANCE' },
    args: {
      idempotencyKey: t.arg(idempotencyKeyArgument),
      input: t.arg({ type: AdjustBalanceInput, required: true, description: 'What is asked for.' }),
    },
    resolve: (_root, { idempotencyKey, input }, context) =>
      runOperation(context, 'adjustBalance', (ledger) =>
        adjustBalance(ledger, context.viewer, idempotencyKey ?? undefined, input),
      ),
  }),
);
