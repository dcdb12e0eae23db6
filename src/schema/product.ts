import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { findMerchant } from '../ledger/usecases/queries/read-merchants.ts';
import { amountText } from './amounts.ts';
import { Node, nodeId } from './node.ts';
import { MerchantType, ProductType } from './refs.ts';

ProductType.implement({
  description: 'What a merchant sells.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ tenant, merchantId, sku }) => encodeNodeId('Product', tenant, merchantId, sku)),
    merchant: t.field({
      description: 'Who sells it.',
      type: MerchantType,
      // A merchant that has left the tenant's file has lost its name, not its catalogue.
      resolve: ({ tenant, merchantId }, _args, { ledger, viewer }) =>
        findMerchant(ledger, viewer, merchantId) ?? { tenant, merchantId, name: merchantId },
    }),
    sku: t.exposeString('sku', { description: "The merchant's own name for it: what orders take." }),
    name: t.exposeString('name', { description: 'For people.' }),
    price: t.field({
      description: 'Of one, in `currency`; orders keep the price at which they were opened.',
      type: 'Decimal',
      resolve: ({ tenant, currency, price }, _args, { ledger }) =>
        amountText(ledger, tenant, currency, price),
    }),
    currency: t.exposeString('currency', { description: "ISO 4217 code: the tenant's." }),
    active: t.exposeBoolean('active', { description: 'Whether it can be ordered.' }),
  }),
});
