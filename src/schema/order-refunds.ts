import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { listRefunds } from '../ledger/usecases/queries/read-order-refunds.ts';
import { type Dispute, isDisputed } from '../ledger/model/orders/order.ts';
import { refundableNow } from '../ledger/model/orders/order-view.ts';
import { orderAmount } from './amounts.ts';
import { builder } from './builder.ts';
import { MAX_SHOWN_DISPUTES, PART_COST } from './costs.ts';
import { type DisputeStatus, DisputeStatusEnum, RefundStateEnum } from './enums.ts';
import { Node, nodeId } from './node.ts';
import { DisputeType, OrderType, RefundType } from './refs.ts';

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
      "What can be refunded now: what is paid and neither given back nor about to be, and nothing while `disputed`. Below zero where more was given back in the provider's dashboard.",
    type: 'Decimal',
    resolve: (order, _args, { ledger }) => orderAmount(ledger, order, refundableNow(order)),
  }),
  disputed: t.boolean({
    description: 'A dispute of its payment is open or lost. Meanwhile it is not refunded.',
    resolve: isDisputed,
  }),
  refunds: t.field({
    description:
      "In the order in which they were made. Of more than 100 some that were made in the provider's dashboard are left out, and counted in the amounts.",
    type: [RefundType],
    complexity: PART_COST.refunds,
    resolve: async (order, _args, { ledger }) =>
      (await listRefunds(ledger, order)).map((refund) => ({ ...refund, order })),
  }),
  disputes: t.field({
    description: 'Of its payments, the latest 100, in the order in which the provider told of them.',
    type: [DisputeType],
    complexity: PART_COST.disputes,
    resolve: (order) => order.disputes.slice(-MAX_SHOWN_DISPUTES).map((dispute) => ({ ...dispute, order })),
  }),
}));

RefundType.implement({
  description: 'Money of an order on its way back, or back already.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ order: { tenant, accountId, orderId }, refundId }) =>
      encodeNodeId('Refund', tenant, accountId, orderId, refundId),
    ),
    order: t.expose('order', { description: 'Whose money it is.', type: OrderType }),
    amount: t.field({
      description: 'In `currency`.',
      type: 'Decimal',
      resolve: ({ order, amount }, _args, { ledger }) => orderAmount(ledger, order, amount),
    }),
    currency: t.string({
      description: "The order's: ISO 4217, such as JPY.",
      resolve: ({ order }) => order.currency,
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

DisputeType.implement({
  description: 'A payment of an order that the bank of its customer contests.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ order: { tenant, accountId, orderId }, disputeId }) =>
      encodeNodeId('Dispute', tenant, accountId, orderId, disputeId),
    ),
    amount: t.field({
      description: 'What is contested, in `currency`: all of the payment or a part of it.',
      type: 'Decimal',
      resolve: ({ order, amount }, _args, { ledger }) => orderAmount(ledger, order, amount),
    }),
    currency: t.string({
      description: "The order's: ISO 4217, such as JPY.",
      resolve: ({ order }) => order.currency,
    }),
    reason: t.exposeString('reason', {
      description: "Why, in the provider's word, such as `fraudulent`. Null: it did not say.",
      nullable: true,
    }),
    status: t.field({
      description: 'How it stands.',
      type: DisputeStatusEnum,
      resolve: ({ status }) => DISPUTE_STATUS[status],
    }),
    dueBy: t.field({
      description: 'Until when the merchant may answer with evidence. Null: there is nothing to answer.',
      type: 'DateTime',
      nullable: true,
      resolve: ({ dueByMs }) => dueByMs,
    }),
  }),
});

const DISPUTE_STATUS = {
  inquiry: 'INQUIRY',
  open: 'OPEN',
  lost: 'LOST',
  won: 'WON',
  cleared: 'CLEARED',
} as const satisfies Readonly<Record<Dispute['status'], DisputeStatus>>;
