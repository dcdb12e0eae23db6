import { builder } from '../builder.ts';

export const CancelOrderInput = builder.inputType('CancelOrderInput', {
  description: 'What is to be closed.',
  fields: (t) => ({ orderId: t.id({ description: 'The `id` of the order.', required: true }) }),
});
