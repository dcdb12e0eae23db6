import { checkout } from '../../ledger/operations/checkout.ts';
import { builder } from '../../schema/builder.ts';
import { CheckoutInput } from '../../schema/inputs/checkout-input.ts';
import { CheckoutResult } from '../../schema/results/checkout-result.ts';
import { idempotencyKeyArgument } from '../../schema/scalars.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('checkout', (t) =>
  t.field({
    type: CheckoutResult,
    description:
      'Opens a Stripe Checkout session for an order. The order becomes PAID only when Stripe says so.',
    authScopes: { permission: 'CHECKOUT' },
    args: {
      idempotencyKey: t.arg(idempotencyKeyArgument),
      input: t.arg({ type: CheckoutInput, required: true, description: 'What is asked for.' }),
    },
    resolve: (_root, { idempotencyKey, input }, context) =>
      runOperation(context, 'checkout', (ledger) =>
        checkout(ledger, context.viewer, idempotencyKey ?? undefined, input),
      ),
  }),
);
