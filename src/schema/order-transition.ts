import { ITEM_COST } from './costs.ts';
import { OrderStateEnum, TransitionCauseEnum } from './enums.ts';
import { present } from './present.ts';
import { OrderTransitionType, OrderType } from './refs.ts';

OrderTransitionType.implement({
  description:
    'A change of an order: of its state, or (from equals to) of its refunds, disputes, steps or attempts.',
  fields: (t) => ({
    version: t.exposeInt('version', {
      description: "The order's version that it made: 1, 2, 3, … without a hole.",
    }),
    from: t.expose('from', {
      description: 'The state before it. Null: there was none.',
      type: OrderStateEnum,
      nullable: true,
    }),
    to: t.expose('to', { description: 'The state after it.', type: OrderStateEnum }),
    cause: t.expose('cause', { description: 'Why.', type: TransitionCauseEnum }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: "A decline code, a step's name, a refund's reason. Null: nothing more to say.",
    }),
    actor: t.exposeString('actor', {
      description: 'Who did it: the `subject` of a token, or `stripe`, `worker` for what happened by itself.',
    }),
    at: t.expose('atMs', { description: 'When it was committed.', type: 'DateTime' }),
    order: t.field({
      description: 'As it is now, not as it was.',
      type: OrderType,
      // Below an order it is there already; of an event it is read.
      complexity: ITEM_COST,
      resolve: async ({ order, ref }, _args, { load }) =>
        order ?? present(await load.order(ref), "a transition's order"),
    }),
  }),
});
