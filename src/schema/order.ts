import { encodeNodeId } from '../ledger/node-ids.ts';
import { findMerchant } from '../ledger/operations/read-merchants.ts';
import { orderAmount } from './amounts.ts';
import { OrderKindEnum, OrderStateEnum } from './enums.ts';
import { Node } from './node.ts';
import { MerchantType, OrderLineType, OrderTransitionType, OrderType, StepType } from './refs.ts';

/** What it is and how far it has come; how it's paid and what is given back have files of their own. */
OrderType.implement({
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      resolve: ({ tenant, accountId, orderId }) => encodeNodeId('Order', tenant, accountId, orderId),
    }),
    kind: t.expose('kind', { type: OrderKindEnum }),
    state: t.expose('state', { type: OrderStateEnum }),
    version: t.exposeInt('version'),
    accountId: t.exposeID('accountId'),
    merchant: t.field({
      type: MerchantType,
      nullable: true,
      resolve: ({ merchantId }, _args, { ledger, viewer }) =>
        merchantId === undefined ? null : findMerchant(ledger, viewer, merchantId),
    }),
    lines: t.field({
      type: [OrderLineType],
      resolve: (order) => order.lines.map((line) => ({ order, line })),
    }),
    amount: t.field({
      type: 'Decimal',
      resolve: (order, _args, { ledger }) => orderAmount(ledger, order, order.amount),
    }),
    currency: t.exposeString('currency'),
    steps: t.field({
      type: [StepType],
      resolve: (order) => order.steps.map((step) => ({ order, step })),
    }),
    timeline: t.field({
      type: [OrderTransitionType],
      resolve: (order) => order.timeline.map((transition) => ({ ref: order, transition, order })),
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ createdAtMs }) => createdAtMs }),
    updatedAt: t.field({ type: 'DateTime', resolve: ({ updatedAtMs }) => updatedAtMs }),
  }),
});
