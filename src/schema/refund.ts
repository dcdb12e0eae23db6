import { encodeNodeId } from '../ledger/node-ids.ts';
import { orderAmount } from './amounts.ts';
import { RefundStateEnum } from './enums.ts';
import { Node } from './node.ts';
import { RefundType } from './refs.ts';

RefundType.implement({
  description: 'Money of an order on its way back, or back already.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      description: 'For `node(id:)`; opaque, and the same for good.',
      resolve: ({ order: { tenant, accountId, orderId }, refund }) =>
        encodeNodeId('Refund', tenant, accountId, orderId, refund.refundId),
    }),
    amount: t.field({
      description: "In the order's currency.",
      type: 'Decimal',
      resolve: ({ order, refund }, _args, { ledger }) => orderAmount(ledger, order, refund.amount),
    }),
    state: t.field({
      description: 'What became of it.',
      type: RefundStateEnum,
      resolve: ({ refund }) => refund.state,
    }),
    reason: t.string({
      description: 'As the client gave it. Null: none.',
      nullable: true,
      resolve: ({ refund }) => refund.reason,
    }),
    failureReason: t.string({
      description: "Why it came to nothing, in the provider's word. Null: it did not.",
      nullable: true,
      resolve: ({ refund }) => refund.failureReason,
    }),
    createdAt: t.field({
      description: 'When it was asked for, or when the provider told of it.',
      type: 'DateTime',
      resolve: ({ refund }) => refund.createdAtMs,
    }),
  }),
});
