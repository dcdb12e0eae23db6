import { builder } from '../builder.ts';

const OrderItemInput = builder.inputType('OrderItemInput', {
  fields: (t) => ({ sku: t.string({ required: true }), quantity: t.int({ required: true }) }),
});

export const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description:
    'Exactly one of items and amount; with an amount, description names the line. A terminal gives accountId or a scanned ' +
    'paymentCode, and may charge only what was opened with a code.',
  fields: (t) => ({
    merchantId: t.id({ required: true }),
    accountId: t.id(),
    paymentCode: t.string(),
    items: t.field({ type: [OrderItemInput] }),
    amount: t.field({ type: 'Decimal' }),
    description: t.string(),
  }),
});
