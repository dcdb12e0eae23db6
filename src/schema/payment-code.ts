import { PaymentCodeType } from './refs.ts';

PaymentCodeType.implement({
  fields: (t) => ({
    code: t.exposeString('code'),
    expiresAt: t.field({ type: 'DateTime', resolve: ({ expiresAtMs }) => expiresAtMs }),
  }),
});
