import { orderAmount } from './amounts.ts';
import { OrderLineType } from './refs.ts';

OrderLineType.implement({
  fields: (t) => ({
    sku: t.string({ nullable: true, resolve: ({ line }) => line.sku }),
    name: t.string({ resolve: ({ line }) => line.name }),
    quantity: t.int({ resolve: ({ line }) => line.quantity }),
    unitPrice: t.field({
      type: 'Decimal',
      resolve: ({ order, line }, _args, { ledger }) => orderAmount(ledger, order, line.unitPrice),
    }),
    amount: t.field({
      type: 'Decimal',
      resolve: ({ order, line }, _args, { ledger }) => orderAmount(ledger, order, line.amount),
    }),
  }),
});
