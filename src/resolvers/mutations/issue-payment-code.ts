import { issuePaymentCode } from '../../ledger/operations/issue-payment-code.ts';
import { builder } from '../../schema/builder.ts';
import { PaymentCodeType } from '../../schema/refs.ts';

builder.mutationField('issuePaymentCode', (t) =>
  t.field({
    type: PaymentCodeType,
    description:
      'Customer: a short-lived, single-use code for a terminal to scan. It names the account and is its consent.',
    authScopes: { permission: 'ISSUE_PAYMENT_CODE' },
    resolve: (_root, _args, { ledger, viewer }) => issuePaymentCode(ledger, viewer),
  }),
);
