import { encodeNodeId } from '../ledger/node-ids.ts';
import { listProducts } from '../ledger/operations/read-merchants.ts';
import { ProductConnection, ProductEdge, connectionOf, listCost, pageRequest } from './connections.ts';
import { Node } from './node.ts';
import { MerchantType, ProductType } from './refs.ts';
import { present } from './present.ts';

MerchantType.implement({
  description: 'Who sells, from the file of the tenant.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      description: 'For `node(id:)`; opaque, and the same for good.',
      resolve: ({ tenant, merchantId }) => encodeNodeId('Merchant', tenant, merchantId),
    }),
    merchantId: t.exposeID('merchantId', {
      description: "The operator's own name for it: what inputs and tokens take.",
    }),
    name: t.exposeString('name', { description: 'For people.' }),
    products: t.connection(
      {
        type: ProductType,
        description: 'The catalogue, by SKU.',
        complexity: listCost,
        resolve: async (merchant, args, { ledger }) =>
          present(
            (await connectionOf(() => listProducts(ledger, merchant, pageRequest(args)))) ?? undefined,
            'a catalogue',
          ),
      },
      ProductConnection,
      ProductEdge,
    ),
  }),
});
