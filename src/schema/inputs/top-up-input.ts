import { builder } from '../builder.ts';
import { TopUpMethodEnum } from '../enums.ts';

export const TopUpInput = builder.inputType('TopUpInput', {
  description: 'What is added to a wallet, and how.',
  fields: (t) => ({
    accountId: t.id({
      description: "Whose wallet, by the operator's own name for the account. A customer leaves it out.",
    }),
    asset: t.string({ description: 'Which balance.', required: true, defaultValue: 'ECOPAY' }),
    amount: t.field({ description: 'In the asset; above zero.', type: 'Decimal', required: true }),
    method: t.field({
      description: 'CASH at a terminal, CHECKOUT by the customer.',
      type: TopUpMethodEnum,
      required: true,
    }),
    successUrl: t.string({ description: 'CHECKOUT: where the customer goes once done on the page.' }),
    cancelUrl: t.string({ description: 'CHECKOUT: where the customer goes who turns back.' }),
  }),
});
