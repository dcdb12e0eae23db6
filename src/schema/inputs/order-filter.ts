import { builder } from '../builder.ts';
import { OrderStateEnum } from '../enums.ts';

export const OrderFilter = builder.inputType('OrderFilter', {
  fields: (t) => ({
    accountId: t.id(),
    merchantId: t.id(),
    state: t.field({ type: OrderStateEnum }),
    createdFrom: t.field({ type: 'DateTime' }),
    createdBefore: t.field({ type: 'DateTime' }),
  }),
});
