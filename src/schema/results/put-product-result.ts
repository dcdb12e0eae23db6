import type { PutProductSuccess as PutProductOutcome } from '../../ledger/operations/put-product.ts';
import { builder } from '../builder.ts';
import { InvalidInput, NotFound, Throttled, TransactionConflict } from '../failures.ts';
import { present } from '../present.ts';
import { ProductType } from '../refs.ts';

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

export const PutProductResult = builder.unionType('PutProductResult', {
  description:
    'What came of `putProduct`. More members may come: one that a client does not know is an unknown outcome.',
  types: [PutProductSuccess, TransactionConflict, Throttled, InvalidInput, NotFound],
  resolveType: ({ kind }) => kind,
});
