import { OrderStateEnum, TransitionCauseEnum } from './enums.ts';
import { present } from './present.ts';
import { OrderTransitionType, OrderType } from './refs.ts';

OrderTransitionType.implement({
  description:
    'A change of an order: of its state, or (from equals to) of its refunds, disputes, steps or attempts.',
  fields: (t) => ({
    version: t.int({
      description: "The order's version that it made: 1, 2, 3, … without a hole.",
      resolve: ({ transition }) => transition.version,
    }),
    from: t.field({
      description: 'The state before it. Null: there was none.',
      type: OrderStateEnum,
      nullable: true,
      resolve: ({ transition }) => transition.from,
    }),
    to: t.field({
      description: 'The state after it.',
      type: OrderStateEnum,
      resolve: ({ transition }) => transition.to,
    }),
    cause: t.field({
      description: 'Why.',
      type: TransitionCauseEnum,
      resolve: ({ transition }) => transition.cause,
    }),
    detail: t.string({
      nullable: true,
      description: "A decline code, a step's name, a refund's reason. Null: nothing more to say.",
      resolve: ({ transition }) => transition.detail,
    }),
    actor: t.string({
      description: 'Who did it: the `subject` of a token, or `stripe`, `worker` for what happened by itself.',
      resolve: ({ transition }) => transition.actor,
    }),
    at: t.field({
      description: 'When it was committed.',
      type: 'DateTime',
      resolve: ({ transition }) => transition.atMs,
    }),
    order: t.field({
      description: 'As it is now, not as it was.',
      type: OrderType,
      resolve: async ({ order, ref }, _args, { load }) =>
        order ?? present(await load.order(ref), "a transition's order"),
    }),
  }),
});
