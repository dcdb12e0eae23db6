import { encodeNodeId } from '../ledger/node-ids.ts';
import { StepStateEnum } from './enums.ts';
import { Node } from './node.ts';
import { OrderType, StepType } from './refs.ts';

StepType.implement({
  description: "One follow-up of a paid order, such as telling the merchant's server.",
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      resolve: ({ order: { tenant, accountId, orderId }, step }) =>
        encodeNodeId('Step', tenant, accountId, orderId, step.name),
    }),
    order: t.expose('order', { type: OrderType }),
    name: t.string({ resolve: ({ step }) => step.name }),
    state: t.field({ type: StepStateEnum, resolve: ({ step }) => step.state }),
    attempts: t.int({ resolve: ({ step }) => step.attempts }),
    lastError: t.string({ nullable: true, resolve: ({ step }) => step.lastError }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: ({ step }) => (step.state === 'PENDING' ? step.nextAttemptAtMs : null),
    }),
  }),
});
