import { PaymentCodeType } from './refs.ts';

PaymentCodeType.implement({
  description: "A customer's consent for a terminal to open and charge one order.",
  fields: (t) => ({
    code: t.exposeString('code', {
      description: 'To be shown as a QR code, and scanned into `createOrder`.',
    }),
    expiresAt: t.field({
      description: 'Five minutes after it was made.',
      type: 'DateTime',
      resolve: ({ expiresAtMs }) => expiresAtMs,
    }),
  }),
});
