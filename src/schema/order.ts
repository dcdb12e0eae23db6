import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { findMerchant } from '../ledger/usecases/queries/read-merchants.ts';
import type { OrderLine } from '../ledger/model/orders/order.ts';
import type { MetadataEntry } from '../ledger/model/orders/order-metadata.ts';
import { orderAmount } from './amounts.ts';
import { builder } from './builder.ts';
import { METADATA_COST, PART_COST } from './costs.ts';
import { OrderKindEnum, OrderStateEnum } from './enums.ts';
import { Node, nodeId } from './node.ts';
import { present } from './present.ts';
import { MerchantType, type OfOrder, OrderTransitionType, OrderType, StepType } from './refs.ts';

const OrderLineType = builder.objectRef<OfOrder<OrderLine>>('OrderLine').implement({
  description: 'A part of an order, with what it cost when the order was opened.',
  fields: (t) => ({
    sku: t.exposeString('sku', {
      description: 'Of the product. Null: the amount was named by hand, or it is a top-up.',
      nullable: true,
    }),
    name: t.exposeString('name', {
      description: 'For people: the name of the product as it was, or the description.',
    }),
    quantity: t.exposeInt('quantity', { description: 'How many, from 1 to 9999.' }),
    unitPrice: t.field({
      description: "Of one, in the order's currency.",
      type: 'Decimal',
      resolve: ({ order, unitPrice }, _args, { ledger }) => orderAmount(ledger, order, unitPrice),
    }),
    amount: t.field({
      description: '`quantity` times `unitPrice`.',
      type: 'Decimal',
      resolve: ({ order, amount }, _args, { ledger }) => orderAmount(ledger, order, amount),
    }),
  }),
});

const MetadataEntryType = builder.objectRef<MetadataEntry>('MetadataEntry').implement({
  description: 'A key and its value, kept as whoever opened the order gave them.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Once in the list.' }),
    value: t.exposeString('value', { description: 'Never empty.' }),
  }),
});

/** What it is and how far it has come; how it's paid and what is given back have files of their own. */
OrderType.implement({
  description: 'A purchase at a merchant, or a top-up of a wallet, and all that became of it.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ tenant, accountId, orderId }) => encodeNodeId('Order', tenant, accountId, orderId)),
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
    reference: t.exposeString('reference', {
      description: "The merchant's own name for it, from `createOrder`. Null: it has none.",
      nullable: true,
    }),
    metadata: t.field({
      description: 'What was written down with it by `createOrder`, at most 20 entries, in the same order.',
      type: [MetadataEntryType],
      complexity: METADATA_COST,
      resolve: async (order, _args, { load }) =>
        order.hasMetadata ? present(await load.orderMetadata(order), "an order's metadata") : [],
    }),
    lines: t.field({
      description: 'What it is made of: 1 to 99 lines.',
      type: [OrderLineType],
      complexity: PART_COST.lines,
      resolve: (order) => order.lines.map((line) => ({ ...line, order })),
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
      complexity: PART_COST.steps,
      resolve: (order) => order.steps.map((step) => ({ order, step })),
    }),
    timeline: t.field({
      description: 'What happened, the oldest first. Very long ones leave out what was long ago.',
      type: [OrderTransitionType],
      complexity: PART_COST.timeline,
      resolve: (order) => order.timeline.map((transition) => ({ ...transition, ref: order, order })),
    }),
    createdAt: t.expose('createdAtMs', { description: 'When it was opened.', type: 'DateTime' }),
    updatedAt: t.expose('updatedAtMs', {
      description: 'When anything of it last changed, follow-ups included.',
      type: 'DateTime',
    }),
  }),
});
