import { orderRefOf } from '../../ledger/operations/input.ts';
import { builder } from '../../schema/builder.ts';
import { OrderType } from '../../schema/refs.ts';

builder.queryField('order', (t) =>
  t.field({
    type: OrderType,
    nullable: true,
    description: 'Null for an id that is malformed, unknown, or of an order that is not yours.',
    args: { id: t.arg.id({ required: true, description: 'The `id` of the order.' }) },
    resolve: (_root, { id }, { load, viewer }) => {
      const ref = orderRefOf(viewer.tenant, id);
      return ref === undefined ? null : load.order(ref);
    },
  }),
);
