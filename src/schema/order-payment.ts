import { maySeeProviderReference } from '../auth/permissions.ts';
import { isCancelable, payableWith, paymentPage } from '../ledger/orders/order-view.ts';
import { ownershipOf } from '../auth/order-ownership.ts';
import { builder } from './builder.ts';
import { PaymentMethodEnum } from './enums.ts';
import { OrderType, PaymentPageType } from './refs.ts';

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
      maySeeProviderReference(viewer, ownershipOf(order)) ? order.payment?.paymentId : null,
  }),
}));
