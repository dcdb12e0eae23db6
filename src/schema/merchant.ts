import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { listProducts } from '../ledger/usecases/queries/read-merchants.ts';
import { ProductConnection, connectionOf } from './connections.ts';
import { pageCost } from './costs.ts';
import { Node, nodeId } from './node.ts';
import { MerchantType } from './refs.ts';
import { present } from './present.ts';

MerchantType.implement({
  description: 'Who sells, from the file of the tenant.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ tenant, merchantId }) => encodeNodeId('Merchant', tenant, merchantId)),
    merchantId: t.exposeID('merchantId', {
      description: "The operator's own name for it: what inputs and tokens take.",
    }),
    name: t.exposeString('name', { description: 'For people.' }),
    products: t.field({
      type: ProductConnection,
      description: 'The catalogue, by SKU.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async (merchant, args, { ledger }) =>
        present(
          (await connectionOf(args, (page) => listProducts(ledger, merchant, page))) ?? undefined,
          'a catalogue',
        ),
    }),
  }),
});
