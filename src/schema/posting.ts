import { amountText } from './amounts.ts';
import { PostingType } from './refs.ts';

PostingType.implement({
  description: 'An amount that moves from one ledger account to another.',
  fields: (t) => ({
    debit: t.exposeString('debit', {
      description:
        'Where it comes from: wallet:<account>, merchant:<id>, stripe, cash:<terminal>, receivable:<account>, surplus:<order> or issuer.',
    }),
    credit: t.exposeString('credit', { description: 'Where it goes to; named like `debit`.' }),
    asset: t.exposeString('asset', { description: 'An asset such as ECOPAY, or a currency such as JPY.' }),
    amount: t.field({
      description: "Above zero, in the unit's full scale.",
      type: 'Decimal',
      resolve: ({ tenant, asset, amount }, _args, { ledger }) => amountText(ledger, tenant, asset, amount),
    }),
  }),
});
