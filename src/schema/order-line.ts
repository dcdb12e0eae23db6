import { orderAmount } from './amounts.ts';
import { OrderLineType } from './refs.ts';

OrderLineType.implement({
  description: 'A part of an order, with what it cost when the order was opened.',
  fields: (t) => ({
    sku: t.string({
      description: 'Of the product. Null: the amount was named by hand, or it is a top-up.',
      nullable: true,
      resolve: ({ line }) => line.sku,
    }),
    name: t.string({
      description: 'For people: the name of the product as it was, or the description.',
      resolve: ({ line }) => line.name,
    }),
    quantity: t.int({ description: 'How many, from 1 to 9999.', resolve: ({ line }) => line.quantity }),
    unitPrice: t.field({
      description: "Of one, in the order's currency.",
      type: 'Decimal',
      resolve: ({ order, line }, _args, { ledger }) => orderAmount(ledger, order, line.unitPrice),
    }),
    amount: t.field({
      description: '`quantity` times `unitPrice`.',
      type: 'Decimal',
      resolve: ({ order, line }, _args, { ledger }) => orderAmount(ledger, order, line.amount),
    }),
  }),
});
