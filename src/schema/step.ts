import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { StepStateEnum } from './enums.ts';
import { Node, nodeId } from './node.ts';
import { OrderType, StepType } from './refs.ts';

StepType.implement({
  description: "One follow-up of a paid order, such as telling the merchant's server.",
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ order: { tenant, accountId, orderId }, step }) =>
      encodeNodeId('Step', tenant, accountId, orderId, step.name),
    ),
    order: t.expose('order', { description: 'What it follows.', type: OrderType }),
    name: t.string({ description: 'Such as `notify-merchant:paid`.', resolve: ({ step }) => step.name }),
    state: t.field({
      description: 'How far it has come.',
      type: StepStateEnum,
      resolve: ({ step }) => step.state,
    }),
    attempts: t.int({ description: 'How often it has been tried.', resolve: ({ step }) => step.attempts }),
    lastError: t.string({
      description: 'Why it failed last. Null: it has not failed since it last went well.',
      nullable: true,
      resolve: ({ step }) => step.lastError,
    }),
    nextAttemptAt: t.field({
      description: 'When it is tried next. Null unless PENDING.',
      type: 'DateTime',
      nullable: true,
      resolve: ({ step }) => (step.state === 'PENDING' ? step.nextAttemptAtMs : null),
    }),
  }),
});
