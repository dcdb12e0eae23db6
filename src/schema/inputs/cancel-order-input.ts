import { builder } from '../builder.ts';

export const CancelOrderInput = builder.inputType('CancelOrderInput', {
  fields: (t) => ({ orderId: t.id({ required: true }) }),
});
