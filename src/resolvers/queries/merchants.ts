import { listMerchants } from '../../ledger/operations/read-merchants.ts';
import { builder } from '../../schema/builder.ts';
import { MerchantType } from '../../schema/refs.ts';

builder.queryField('merchants', (t) =>
  t.field({
    type: [MerchantType],
    description: 'Who sells at this tenant.',
    resolve: (_root, _args, { ledger, viewer }) => listMerchants(ledger, viewer),
  }),
);
