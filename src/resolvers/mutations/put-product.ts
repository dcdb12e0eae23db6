import { putProduct } from '../../ledger/operations/put-product.ts';
import { builder } from '../../schema/builder.ts';
import { PutProductInput } from '../../schema/inputs/put-product-input.ts';
import { PutProductResult } from '../../schema/results/put-product-result.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('putProduct', (t) =>
  t.field({
    type: PutProductResult,
    description:
      'Admin or the merchant itself: creates or replaces a product. Sets values, so repeating it is safe.',
    authScopes: { permission: 'PUT_PRODUCT' },
    args: { input: t.arg({ type: PutProductInput, required: true, description: 'What is asked for.' }) },
    resolve: (_root, { input }, context) =>
      runOperation(context, 'putProduct', (ledger) => putProduct(ledger, context.viewer, input)),
  }),
);
