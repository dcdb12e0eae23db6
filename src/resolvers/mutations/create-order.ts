import { createOrder } from '../../ledger/operations/create-order.ts';
import { builder } from '../../schema/builder.ts';
import { CreateOrderInput } from '../../schema/inputs/create-order-input.ts';
import { CreateOrderResult } from '../../schema/results/create-order-result.ts';
import { idempotencyKeyArgument } from '../../schema/scalars.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('createOrder', (t) =>
  t.field({
    type: CreateOrderResult,
    description:
      'Opens an order. A customer names products and quantities; the server resolves prices. Only a merchant, terminal or admin may name an amount.',
    authScopes: { permission: 'CREATE_ORDER' },
    args: {
      idempotencyKey: t.arg(idempotencyKeyArgument),
      input: t.arg({ type: CreateOrderInput, required: true, description: 'What is asked for.' }),
    },
    resolve: (_root, { idempotencyKey, input }, context) =>
      runOperation(context, 'createOrder', (ledger) =>
        createOrder(ledger, context.viewer, idempotencyKey ?? undefined, input),
      ),
  }),
);
