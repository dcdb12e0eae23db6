import { builder } from '../builder.ts';

export const AdjustBalanceInput = builder.inputType('AdjustBalanceInput', {
  description: 'What an admin corrects.',
  fields: (t) => ({
    accountId: t.id({
      description: "Whose balance, by the operator's own name for the account.",
      required: true,
    }),
    asset: t.string({
      description: 'Which balance: ECOPAY, POINT, JCREDIT or REGIONAL/<key>.',
      required: true,
    }),
    amount: t.field({
      description:
        'Signed, in the asset: above zero adds, below zero takes. The balance stays at zero or above, and within its cap.',
      type: 'Decimal',
      required: true,
    }),
    reason: t.string({ description: 'Why, for the books, 1 to 200 characters.', required: true }),
  }),
});
