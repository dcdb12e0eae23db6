import { builder } from '../builder.ts';

export const AdjustBalanceInput = builder.inputType('AdjustBalanceInput', {
  fields: (t) => ({
    accountId: t.id({ required: true }),
    asset: t.string({ required: true }),
    amount: t.field({ type: 'Decimal', required: true }),
    reason: t.string({ required: true }),
  }),
});
