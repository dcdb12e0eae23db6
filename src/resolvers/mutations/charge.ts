import { charge } from '../../ledger/operations/charge.ts';
import { builder } from '../../schema/builder.ts';
import { ChargeInput } from '../../schema/inputs/charge-input.ts';
import { ChargeResult } from '../../schema/results/charge-result.ts';
import { idempotencyKeyArgument } from '../../schema/scalars.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('charge', (t) =>
  t.field({
    type: ChargeResult,
    description: 'Pays a purchase from a wallet balance: one transaction, at once PAID.',
    authScopes: { permission: 'CHARGE' },
    args: {
      idempotencyKey: t.arg(idempotencyKeyArgument),
      input: t.arg({ type: ChargeInput, required: true, description: 'What is asked for.' }),
    },
    resolve: (_root, { idempotencyKey, input }, context) =>
      runOperation(context, 'charge', (ledger) =>
        charge(ledger, context.viewer, idempotencyKey ?? undefined, input),
      ),
  }),
);
