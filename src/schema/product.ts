import { encodeNodeId } from '../ledger/node-ids.ts';
import { findMerchant } from '../ledger/operations/read-merchants.ts';
import { amountText } from './amounts.ts';
import { Node } from './node.ts';
import { MerchantType, ProductType } from './refs.ts';

ProductType.implement({
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      resolve: ({ tenant, merchantId, sku }) => encodeNodeId('Product', tenant, merchantId, sku),
    }),
    merchant: t.field({
      type: MerchantType,
      // A merchant that has left the tenant's file has lost its name, not its catalogue.
      resolve: ({ tenant, merchantId }, _args, { ledger, viewer }) =>
        findMerchant(ledger, viewer, merchantId) ?? { tenant, merchantId, name: merchantId },
    }),
    sku: t.exposeString('sku'),
    name: t.exposeString('name'),
    price: t.field({
      type: 'Decimal',
      resolve: ({ tenant, currency, price }, _args, { ledger }) =>
        amountText(ledger, tenant, currency, price),
    }),
    currency: t.exposeString('currency'),
    active: t.exposeBoolean('active'),
  }),
});
