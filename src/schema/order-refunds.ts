import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { isDisputed } from '../ledger/model/orders/order.ts';
import { orderAmount } from './amounts.ts';
import { builder } from './builder.ts';
import { PART_COST } from './costs.ts';
import { RefundStateEnum } from './enums.ts';
import { Node, nodeId } from './node.ts';
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
    description:
      "What is paid and neither given back nor about to be. Below zero where more was given back in the provider's dashboard.",
    type: 'Decimal',
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
    complexity: PART_COST.refunds,
    resolve: (order) => order.refunds.map((refund) => ({ ...refund, order })),
  }),
}));

RefundType.implement({
  description: 'Money of an order on its way back, or back already.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ order: { tenant, accountId, orderId }, refundId }) =>
      encodeNodeId('Refund', tenant, accountId, orderId, refundId),
    ),
    amount: t.field({
      description: "In the order's currency.",
      type: 'Decimal',
      resolve: ({ order, amount }, _args, { ledger }) => orderAmount(ledger, order, amount),
    }),
    state: t.expose('state', { description: 'What became of it.', type: RefundStateEnum }),
    reason: t.exposeString('reason', {
      description: 'As the client gave it. Null: none.',
      nullable: true,
    }),
    failureReason: t.exposeString('failureReason', {
      description: "Why it came to nothing, in the provider's word. Null: it did not.",
      nullable: true,
    }),
    createdAt: t.expose('createdAtMs', {
      description: 'When it was asked for, or when the provider told of it.',
      type: 'DateTime',
    }),
  }),
});
