import { listOrders } from '../../ledger/operations/read-order-lists.ts';
import { builder } from '../../schema/builder.ts';
import { OrderConnection, OrderEdge, connectionOf, listCost, pageRequest } from '../../schema/connections.ts';
import { OrderFilter } from '../../schema/inputs/order-filter.ts';
import { OrderType } from '../../schema/refs.ts';

builder.queryField('orders', (t) =>
  t.connection(
    {
      type: OrderType,
      nullable: true,
      description:
        "A customer sees its own orders, a merchant or terminal its merchant's. An admin names an account or a merchant. The newest first.",
      args: { filter: t.arg({ type: OrderFilter, description: 'Which of them. Null: all.' }) },
      complexity: listCost,
      resolve: (_root, { filter, ...args }, { ledger, viewer }) => {
        const { accountId, merchantId, state, createdFrom, createdBefore } = filter ?? {};
        const wanted = {
          accountId: accountId ?? undefined,
          merchantId: merchantId ?? undefined,
          state: state ?? undefined,
          createdFromMs: createdFrom ?? undefined,
          createdBeforeMs: createdBefore ?? undefined,
        };
        return connectionOf(() => listOrders(ledger, viewer, wanted, pageRequest(args)));
      },
    },
    OrderConnection,
    OrderEdge,
  ),
);
