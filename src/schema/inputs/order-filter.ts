import { builder } from '../builder.ts';
import { OrderStateEnum } from '../enums.ts';

export const OrderFilter = builder.inputType('OrderFilter', {
  description: 'Which orders. What is absent or null does not narrow it.',
  fields: (t) => ({
    accountId: t.id({ description: "Of this account, by the operator's own name for it." }),
    merchantId: t.id({ description: "Of this merchant, by the operator's own name for it." }),
    state: t.field({ description: 'In this state now.', type: OrderStateEnum }),
    createdFrom: t.field({ description: 'Opened then or later.', type: 'DateTime' }),
    createdBefore: t.field({ description: 'Opened before then.', type: 'DateTime' }),
  }),
});
