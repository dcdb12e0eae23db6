import { cancelOrder } from '../../ledger/operations/cancel-order.ts';
import { builder } from '../../schema/builder.ts';
import { CancelOrderInput } from '../../schema/inputs/cancel-order-input.ts';
import { CancelOrderResult } from '../../schema/results/cancel-order-result.ts';
import { idempotencyKeyArgument } from '../../schema/scalars.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('cancelOrder', (t) =>
  t.field({
    type: CancelOrderResult,
    description: 'Closes an unpaid order.',
    authScopes: { permission: 'CANCEL_ORDER' },
    args: {
      idempotencyKey: t.arg(idempotencyKeyArgument),
      input: t.arg({ type: CancelOrderInput, required: true, description: 'What is asked for.' }),
    },
    resolve: (_root, { idempotencyKey, input }, context) =>
      runOperation(context, 'cancelOrder', (ledger) =>
        cancelOrder(ledger, context.viewer, idempotencyKey ?? undefined, input),
      ),
  }),
);
