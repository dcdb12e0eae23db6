import {
  type IssuedPaymentCode,
  issuePaymentCode,
} from '../../ledger/usecases/commands/issue-payment-code.ts';
import { builder } from '../../schema/builder.ts';

const PaymentCodeType = builder.objectRef<IssuedPaymentCode>('PaymentCode').implement({
  description: "A customer's consent for a terminal to open and charge one order.",
  fields: (t) => ({
    code: t.exposeString('code', {
      description: 'To be shown as a QR code, and scanned into `createOrder`.',
    }),
    expiresAt: t.expose('expiresAtMs', { description: 'Five minutes after it was made.', type: 'DateTime' }),
  }),
});

builder.mutationField('issuePaymentCode', (t) =>
  t.field({
    type: PaymentCodeType,
    description:
      'Customer: a short-lived, single-use code for a terminal to scan. It names the account and is its consent.',
    authScopes: { permission: 'ISSUE_PAYMENT_CODE' },
    resolve: (_root, _args, { ledger, viewer }) => issuePaymentCode(ledger, viewer),
  }),
);
