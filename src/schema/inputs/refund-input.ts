import { builder } from '../builder.ts';

export const RefundInput = builder.inputType('RefundInput', {
  fields: (t) => ({
    orderId: t.id({ required: true }),
    amount: t.field({ type: 'Decimal' }),
    reason: t.string(),
  }),
});
