import { builder } from '../builder.ts';

export const PutProductInput = builder.inputType('PutProductInput', {
  description: 'A product with all of its values.',
  fields: (t) => ({
    merchantId: t.id({
      description: "Who sells it, by the operator's own name for the merchant.",
      required: true,
    }),
    sku: t.string({
      description:
        "The merchant's own name for it: 1 to 128 letters, digits and any of _ . : | -, the first a letter or digit.",
      required: true,
    }),
    name: t.string({ description: 'For people, 1 to 200 characters.', required: true }),
    price: t.field({
      description: "Of one, in the tenant's currency; above zero.",
      type: 'Decimal',
      required: true,
    }),
    active: t.boolean({ description: 'Whether it can be ordered.', required: true }),
  }),
});
