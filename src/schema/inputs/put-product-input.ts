import { builder } from '../builder.ts';

export const PutProductInput = builder.inputType('PutProductInput', {
  fields: (t) => ({
    merchantId: t.id({ required: true }),
    sku: t.string({ required: true }),
    name: t.string({ required: true }),
    price: t.field({ type: 'Decimal', required: true }),
    active: t.boolean({ required: true }),
  }),
});
