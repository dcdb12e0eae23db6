import { encodeNodeId } from '../ledger/node-ids.ts';
import { findMerchant } from '../ledger/operations/read-merchants.ts';
import { orderAmount } from './amounts.ts';
import { OrderKindEnum, OrderStateEnum } from './enums.ts';
import { Node } from './node.ts';
import { MerchantType, OrderLineType, OrderTransitionType, OrderType, StepType } from './refs.ts';

/** What it is and how far it has come; how it's paid and what is given back have files of their own. */
OrderType.implement({
  description: 'A purchase at a merchant, or a top-up of a wallet, and all that became of it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      description: 'For `node(id:)`; opaque, and the same for good.',
      resolve: ({ tenant, accountId, orderId }) => encodeNodeId('Order', tenant, accountId, orderId),
    }),
    kind: t.expose('kind', { description: 'A purchase or a top-up.', type: OrderKindEnum }),
    state: t.expose('state', { description: 'How far it has come.', type: OrderStateEnum }),
    version: t.exposeInt('version', {
      description: 'How many transitions it has seen: what `afterVersion` takes.',
    }),
    accountId: t.exposeID('accountId', {
      description: "Whose it is, by the operator's own name for the account.",
    }),
    merchant: t.field({
      description: 'Who sells. Null: a top-up.',
      type: MerchantType,
      nullable: true,
      resolve: ({ merchantId }, _args, { ledger, viewer }) =>
        merchantId === undefined ? null : findMerchant(ledger, viewer, merchantId),
    }),
    lines: t.field({
      description: 'What it is made of: 1 to 99 lines.',
      type: [OrderLineType],
      resolve: (order) => order.lines.map((line) => ({ order, line })),
    }),
    amount: t.field({
      description: 'What is to be paid, in `currency`.',
      type: 'Decimal',
      resolve: (order, _args, { ledger }) => orderAmount(ledger, order, order.amount),
    }),
    currency: t.exposeString('currency', { description: 'ISO 4217 code of all its amounts, such as JPY.' }),
    steps: t.field({
      description: 'What follows when it is paid, such as telling the server of the merchant.',
      type: [StepType],
      resolve: (order) => order.steps.map((step) => ({ order, step })),
    }),
    timeline: t.field({
      description: 'What happened, the oldest first. Very long ones leave out what was long ago.',
      type: [OrderTransitionType],
      resolve: (order) => order.timeline.map((transition) => ({ ref: order, transition, order })),
    }),
    createdAt: t.field({
      description: 'When it was opened.',
      type: 'DateTime',
      resolve: ({ createdAtMs }) => createdAtMs,
    }),
    updatedAt: t.field({
      description: 'When anything of it last changed, follow-ups included.',
      type: 'DateTime',
      resolve: ({ updatedAtMs }) => updatedAtMs,
    }),
  }),
});
