import { builder } from '../builder.ts';

export const RefundInput = builder.inputType('RefundInput', {
  description: 'What is given back.',
  fields: (t) => ({
    orderId: t.id({ description: 'The `id` of a paid order.', required: true }),
    amount: t.field({ description: "In the order's currency. Null: all that remains.", type: 'Decimal' }),
    reason: t.string({ description: 'Why, for the books, 1 to 200 characters.' }),
  }),
});
