import { builder } from '../builder.ts';

export const CheckoutInput = builder.inputType('CheckoutInput', {
  description: "URLs: https or an app's scheme, on the tenant's allow-list.",
  fields: (t) => ({
    orderId: t.id({ required: true }),
    successUrl: t.string({ required: true }),
    cancelUrl: t.string({ required: true }),
  }),
});
