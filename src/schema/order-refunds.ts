import { isDisputed } from '../ledger/orders/order.ts';
import { orderAmount } from './amounts.ts';
import { builder } from './builder.ts';
import { OrderType, RefundType } from './refs.ts';

builder.objectFields(OrderType, (t) => ({
  refundedAmount: t.field({
    description: 'What has been given back in all, through the gateway and in the dashboard of the provider.',
    type: 'Decimal',
    resolve: (order, _args, { ledger }) => orderAmount(ledger, order, order.refunded),
  }),
  refundPendingAmount: t.field({
    description: 'What refunds that are PENDING come to.',
    type: 'Decimal',
    resolve: (order, _args, { ledger }) => orderAmount(ledger, order, order.refundPending),
  }),
  refundableAmount: t.field({
    type: 'Decimal',
    description:
      "What is paid and neither given back nor about to be. Below zero where more was given back in the provider's dashboard.",
    resolve: (order, _args, { ledger }) => orderAmount(ledger, order, order.refundable),
  }),
  disputed: t.boolean({
    description: 'A dispute of its payment is open or lost. Meanwhile it is not refunded.',
    resolve: isDisputed,
  }),
  refunds: t.field({
    description:
      'In the order in which they were made; an order whose limits are reached leaves later ones out, and counts them in its amounts.',
    type: [RefundType],
    resolve: (order) => order.refunds.map((refund) => ({ order, refund })),
  }),
}));
