import {
  type PutProductSuccess as PutProductOutcome,
  putProduct,
} from '../../ledger/usecases/commands/put-product.ts';
import { builder } from '../../schema/builder.ts';
import { PLAIN_FAILURES } from '../../schema/failures.ts';
import { present } from '../../schema/present.ts';
import { ProductType } from '../../schema/refs.ts';
import { resultUnion } from '../../schema/results.ts';
import { inputArgument, mutation } from '../declare-mutation.ts';

const PutProductInput = builder.inputType('PutProductInput', {
  description: 'A product with all of its values.',
  fields: (t) => ({
    merchantId: t.id({
      description: "Who sells it, by the operator's own name for the merchant.",
      required: true,
    }),
    sku: t.string({
      description:
        "The merchant's own name for it: 1 to 128 letters, digits and any of _ . : | -, the first a letter or digit.",
      required: true,
    }),
    name: t.string({ description: 'For people, 1 to 200 characters.', required: true }),
    price: t.field({
      description: "Of one, in the tenant's currency; above zero.",
      type: 'Decimal',
      required: true,
    }),
    active: t.boolean({ description: 'Whether it can be ordered.', required: true }),
  }),
});

const PutProductSuccess = builder.objectRef<PutProductOutcome>('PutProductSuccess').implement({
  description: 'The product has these values now.',
  fields: (t) => ({
    product: t.field({
      description: 'As it is now.',
      type: ProductType,
      resolve: async ({ merchantId, sku }, _args, { load, viewer }) =>
        present(await load.product({ tenant: viewer.tenant, merchantId, sku }), "an outcome's product"),
    }),
  }),
});

mutation('putProduct', {
  description:
    'Admin or the merchant itself: creates or replaces a product. Sets values, so repeating it is safe.',
  permission: 'PUT_PRODUCT',
  args: (arg) => ({ input: inputArgument(arg, PutProductInput) }),
  result: resultUnion('putProduct', PutProductSuccess, [...PLAIN_FAILURES]),
  run: (ledger, viewer, { input }) => putProduct(ledger, viewer, input),
});
