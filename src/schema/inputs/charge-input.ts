import { builder } from '../builder.ts';

export const ChargeInput = builder.inputType('ChargeInput', {
  description: 'What is paid, and from which balance.',
  fields: (t) => ({
    orderId: t.id({ description: 'The `id` of a purchase.', required: true }),
    asset: t.string({
      description: 'Which balance pays: one whose asset pays in the currency of the order.',
      required: true,
      defaultValue: 'ECOPAY',
    }),
  }),
});
