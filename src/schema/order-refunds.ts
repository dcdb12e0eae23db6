import { isDisputed } from '../ledger/orders/order.ts';
import { orderAmount } from './amounts.ts';
import { builder } from './builder.ts';
import { OrderType, RefundType } from './refs.ts';

builder.objectFields(OrderType, (t) => ({
  refundedAmount: t.field({
    type: 'Decimal',
    resolve: (order, _args, { ledger }) => orderAmount(ledger, order, order.refunded),
  }),
  refundPendingAmount: t.field({
    type: 'Decimal',
    resolve: (order, _args, { ledger }) => orderAmount(ledger, order, order.refundPending),
  }),
  refundableAmount: t.field({
    type: 'Decimal',
    description:
      "What is paid and neither given back nor about to be. Below zero where more was given back in the provider's dashboard.",
    resolve: (order, _args, { ledger }) => orderAmount(ledger, order, order.refundable),
  }),
  disputed: t.boolean({ resolve: isDisputed }),
  refunds: t.field({
    type: [RefundType],
    resolve: (order) => order.refunds.map((refund) => ({ order, refund })),
  }),
}));
