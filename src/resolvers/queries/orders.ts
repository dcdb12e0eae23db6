import { orderRefOf } from '../../ledger/usecases/runtime/input.ts';
import { listOrders } from '../../ledger/usecases/queries/read-order-lists.ts';
import { builder } from '../../schema/builder.ts';
import { OrderConnection, connectionOf } from '../../schema/connections.ts';
import { ITEM_COST, pageCost } from '../../schema/costs.ts';
import { OrderStateEnum } from '../../schema/enums.ts';
import { OrderType } from '../../schema/refs.ts';

const OrderFilter = builder.inputType('OrderFilter', {
  description: 'Which orders. What is absent or null does not narrow it.',
  fields: (t) => ({
    accountId: t.id({ description: "Of this account, by the operator's own name for it." }),
    merchantId: t.id({ description: "Of this merchant, by the operator's own name for it." }),
    state: t.field({ description: 'In this state now.', type: OrderStateEnum }),
    createdFrom: t.field({ description: 'Opened then or later.', type: 'DateTime' }),
    createdBefore: t.field({ description: 'Opened before then.', type: 'DateTime' }),
  }),
});

builder.queryFields((t) => ({
  order: t.field({
    type: OrderType,
    nullable: true,
    complexity: ITEM_COST,
    description: 'Null for an id that is malformed, unknown, or of an order that is not yours.',
    args: { id: t.arg.id({ required: true, description: 'The `id` of the order.' }) },
    resolve: (_root, { id }, { load, viewer }) => {
      const ref = orderRefOf(viewer.tenant, id);
      return ref === undefined ? null : load.order(ref);
    },
  }),
  orders: t.field({
    type: OrderConnection,
    nullable: true,
    description:
      "A customer sees its own orders, a merchant or terminal its merchant's. An admin names an account or a merchant. The newest first.",
    args: {
      ...t.arg.connectionArgs(),
      filter: t.arg({ type: OrderFilter, description: 'Which of them. Null: all.' }),
    },
    complexity: pageCost,
    resolve: (_root, { filter, ...args }, { ledger, viewer }) => {
      const { accountId, merchantId, state, createdFrom, createdBefore } = filter ?? {};
      const wanted = {
        accountId: accountId ?? undefined,
        merchantId: merchantId ?? undefined,
        state: state ?? undefined,
        createdFromMs: createdFrom ?? undefined,
        createdBeforeMs: createdBefore ?? undefined,
      };
      return connectionOf(args, (page) => listOrders(ledger, viewer, wanted, page));
    },
  }),
}));
