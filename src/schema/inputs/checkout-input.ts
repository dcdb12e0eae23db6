import { builder } from '../builder.ts';

export const CheckoutInput = builder.inputType('CheckoutInput', {
  description:
    "What is paid on a page, and where that sends the customer back to. URLs: https or an app's scheme, on the tenant's allow-list.",
  fields: (t) => ({
    orderId: t.id({ description: 'The `id` of a purchase.', required: true }),
    successUrl: t.string({
      description:
        'Where the customer goes once done on the page. Coming back there proves nothing: the order says whether it is paid.',
      required: true,
    }),
    cancelUrl: t.string({ description: 'Where the customer goes who turns back.', required: true }),
  }),
});
