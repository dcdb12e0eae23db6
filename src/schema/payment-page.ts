import { PaymentPageType } from './refs.ts';

PaymentPageType.implement({
  fields: (t) => ({
    url: t.exposeString('url'),
    expiresAt: t.field({ type: 'DateTime', resolve: ({ expiresAtMs }) => expiresAtMs }),
  }),
});
