import { PaymentPageType } from './refs.ts';

PaymentPageType.implement({
  description: 'A page where the customer pays, or a slip to pay at a counter.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'To be opened in a browser.' }),
    expiresAt: t.field({
      description: 'From then on it can not be paid.',
      type: 'DateTime',
      resolve: ({ expiresAtMs }) => expiresAtMs,
    }),
  }),
});
