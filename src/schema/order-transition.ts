import { OrderStateEnum, TransitionCauseEnum } from './enums.ts';
import { present } from './present.ts';
import { OrderTransitionType, OrderType } from './refs.ts';

OrderTransitionType.implement({
  description:
    'A change of an order: of its state, or (from equals to) of its refunds, disputes, steps or attempts.',
  fields: (t) => ({
    version: t.int({ resolve: ({ transition }) => transition.version }),
    from: t.field({ type: OrderStateEnum, nullable: true, resolve: ({ transition }) => transition.from }),
    to: t.field({ type: OrderStateEnum, resolve: ({ transition }) => transition.to }),
    cause: t.field({ type: TransitionCauseEnum, resolve: ({ transition }) => transition.cause }),
    detail: t.string({
      nullable: true,
      description: "A decline code, a step's name, a refund's reason.",
      resolve: ({ transition }) => transition.detail,
    }),
    actor: t.string({ resolve: ({ transition }) => transition.actor }),
    at: t.field({ type: 'DateTime', resolve: ({ transition }) => transition.atMs }),
    order: t.field({
      type: OrderType,
      resolve: async ({ order, ref }, _args, { load }) =>
        order ?? present(await load.order(ref), "a transition's order"),
    }),
  }),
});
