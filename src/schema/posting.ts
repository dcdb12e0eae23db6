import { amountText } from './amounts.ts';
import { PostingType } from './refs.ts';

PostingType.implement({
  fields: (t) => ({
    debit: t.exposeString('debit'),
    credit: t.exposeString('credit'),
    asset: t.exposeString('asset'),
    amount: t.field({
      type: 'Decimal',
      resolve: ({ tenant, asset, amount }, _args, { ledger }) => amountText(ledger, tenant, asset, amount),
    }),
  }),
});
