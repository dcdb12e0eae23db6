import { refund } from '../../ledger/operations/refund.ts';
import { builder } from '../../schema/builder.ts';
import { RefundInput } from '../../schema/inputs/refund-input.ts';
import { RefundResult } from '../../schema/results/refund-result.ts';
import { idempotencyKeyArgument } from '../../schema/scalars.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('refund', (t) =>
  t.field({
    type: RefundResult,
    description:
      "Returns a paid order's money to where it came from, in full or in part. Without an amount: all that remains.",
    authScopes: { permission: 'REFUND' },
    args: {
      idempotencyKey: t.arg(idempotencyKeyArgument),
      input: t.arg({ type: RefundInput, required: true, description: 'What is asked for.' }),
    },
    resolve: (_root, { idempotencyKey, input }, context) =>
      runOperation(context, 'refund', (ledger) =>
        refund(ledger, context.viewer, idempotencyKey ?? undefined, input),
      ),
  }),
);
