import { maySeeProviderReference } from '../auth/permissions.ts';
import type { PaymentPage } from '../ledger/model/orders/order.ts';
import { isCancelable, payableWith, paymentPage } from '../ledger/model/orders/order-view.ts';
import { builder } from './builder.ts';
import { PaymentMethodEnum } from './enums.ts';
import { OrderType } from './refs.ts';

const PaymentPageType = builder.objectRef<PaymentPage>('PaymentPage').implement({
  description: 'A page where the customer pays, or a slip to pay at a counter.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'To be opened in a browser.' }),
    expiresAt: t.expose('expiresAtMs', { description: 'From then on it can not be paid.', type: 'DateTime' }),
  }),
});

builder.objectFields(OrderType, (t) => ({
  method: t.field({
    type: PaymentMethodEnum,
    nullable: true,
    description: 'How it was paid. Null: not yet.',
    resolve: ({ payment }) => payment?.method,
  }),
  payableWith: t.field({
    type: [PaymentMethodEnum],
    description: 'How it can be paid now; empty where it can not.',
    resolve: (order, _args, { ledger }) => payableWith(order, ledger.clock.nowMs()),
  }),
  cancelable: t.boolean({ description: 'Whether `cancelOrder` can close it now.', resolve: isCancelable }),
  paymentPage: t.field({
    type: PaymentPageType,
    nullable: true,
    description:
      'Where the customer goes now: the Checkout page, or the payment slip while PENDING_PAYMENT. Null when there is nothing to do ' +
      'or it has expired.',
    resolve: (order, _args, { ledger }) => paymentPage(order, ledger.clock.nowMs()),
  }),
  paidAt: t.field({
    description: 'When it became PAID. Null: not yet.',
    type: 'DateTime',
    nullable: true,
    resolve: ({ payment }) => payment?.atMs,
  }),
  providerReference: t.string({
    nullable: true,
    description: "Merchant and admin: the provider's payment id.",
    resolve: (order, _args, { viewer }) =>
      maySeeProviderReference(viewer, order) ? order.payment?.paymentId : null,
  }),
}));
