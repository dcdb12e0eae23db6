import { encodeNodeId } from '../ledger/node-ids.ts';
import { orderAmount } from './amounts.ts';
import { RefundStateEnum } from './enums.ts';
import { Node } from './node.ts';
import { RefundType } from './refs.ts';

RefundType.implement({
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      resolve: ({ order: { tenant, accountId, orderId }, refund }) =>
        encodeNodeId('Refund', tenant, accountId, orderId, refund.refundId),
    }),
    amount: t.field({
      type: 'Decimal',
      resolve: ({ order, refund }, _args, { ledger }) => orderAmount(ledger, order, refund.amount),
    }),
    state: t.field({ type: RefundStateEnum, resolve: ({ refund }) => refund.state }),
    reason: t.string({ nullable: true, resolve: ({ refund }) => refund.reason }),
    failureReason: t.string({ nullable: true, resolve: ({ refund }) => refund.failureReason }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ refund }) => refund.createdAtMs }),
  }),
});
