import { amountText } from './amounts.ts';
import { BalanceChangeType } from './refs.ts';

BalanceChangeType.implement({
  description: 'What an entry did to one balance of its account.',
  fields: (t) => ({
    asset: t.exposeString('asset', { description: 'The asset, such as ECOPAY.' }),
    amount: t.field({
      description: "Signed, in the asset's full scale: above zero came in, below zero went out.",
      type: 'Decimal',
      resolve: ({ tenant, asset, net }, _args, { ledger }) => amountText(ledger, tenant, asset, net),
    }),
  }),
});
