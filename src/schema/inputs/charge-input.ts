import { builder } from '../builder.ts';

export const ChargeInput = builder.inputType('ChargeInput', {
  fields: (t) => ({
    orderId: t.id({ required: true }),
    asset: t.string({ required: true, defaultValue: 'ECOPAY' }),
  }),
});
