import { builder } from '../builder.ts';
import { TopUpMethodEnum } from '../enums.ts';

export const TopUpInput = builder.inputType('TopUpInput', {
  fields: (t) => ({
    accountId: t.id(),
    asset: t.string({ required: true, defaultValue: 'ECOPAY' }),
    amount: t.field({ type: 'Decimal', required: true }),
    method: t.field({ type: TopUpMethodEnum, required: true }),
    successUrl: t.string(),
    cancelUrl: t.string(),
  }),
});
