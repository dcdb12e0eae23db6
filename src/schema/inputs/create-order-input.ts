import { builder } from '../builder.ts';

const OrderItemInput = builder.inputType('OrderItemInput', {
  description: 'A product and how many of it. The server knows the price.',
  fields: (t) => ({
    sku: t.string({ description: 'Of an active product.', required: true }),
    quantity: t.int({ description: '1 to 9999.', required: true }),
  }),
});

export const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description:
    'Exactly one of items and amount; with an amount, description names the line. A terminal gives accountId or a scanned ' +
    'paymentCode, and may charge only what was opened with a code.',
  fields: (t) => ({
    merchantId: t.id({
      description: "Who sells, by the operator's own name for the merchant.",
      required: true,
    }),
    accountId: t.id({
      description: "Whose order it is, by the operator's own name for the account. A customer leaves it out.",
    }),
    paymentCode: t.string({ description: 'Terminal: the code that the customer shows.' }),
    items: t.field({ description: 'Products of the merchant, 1 to 99.', type: [OrderItemInput] }),
    amount: t.field({
      description: "What is to be paid, in the tenant's currency, where the server has no price.",
      type: 'Decimal',
    }),
    description: t.string({
      description: 'The name of the line that the amount makes, 1 to 200 characters.',
    }),
  }),
});
