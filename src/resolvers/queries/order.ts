import { orderRefOf } from '../../ledger/operations/input.ts';
import { builder } from '../../schema/builder.ts';
import { OrderType } from '../../schema/refs.ts';

builder.queryField('order', (t) =>
  t.field({
    type: OrderType,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, { load, viewer }) => {
      const ref = orderRefOf(viewer.tenant, id);
      return ref === undefined ? null : load.order(ref);
    },
  }),
);
