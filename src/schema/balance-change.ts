import { amountText } from './amounts.ts';
import { BalanceChangeType } from './refs.ts';

BalanceChangeType.implement({
  fields: (t) => ({
    asset: t.exposeString('asset'),
    amount: t.field({
      type: 'Decimal',
      resolve: ({ tenant, asset, net }, _args, { ledger }) => amountText(ledger, tenant, asset, net),
    }),
  }),
});
