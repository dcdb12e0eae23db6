import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { WebhookOutcomeEnum } from './enums.ts';
import { Node, nodeId } from './node.ts';
import { OrderType, WebhookEventType } from './refs.ts';

WebhookEventType.implement({
  description: 'Something that the payment provider told.',
  interfaces: [Node],
  fields: (t) => ({
    // Whoever sees an event sees it as one of its own tenant.
    id: nodeId(t, ({ eventId }, { viewer }) => encodeNodeId('WebhookEvent', viewer.tenant, eventId)),
    providerEventId: t.exposeString('eventId', {
      description: 'Its id at the provider: what `replayWebhookEvent` takes.',
    }),
    type: t.exposeString('type', {
      description: "The provider's name for what happened, such as `checkout.session.completed`.",
    }),
    outcome: t.expose('outcome', { description: 'What became of it.', type: WebhookOutcomeEnum }),
    order: t.field({
      description: 'What it is about. Null: no order, or one that is not there.',
      type: OrderType,
      nullable: true,
      resolve: ({ order }, _args, { load }) => (order === undefined ? null : load.order(order)),
    }),
    detail: t.exposeString('detail', {
      description: 'Why, in words for operators. Null: nothing more to say.',
      nullable: true,
    }),
    occurredAt: t.expose('occurredAtMs', {
      description: 'When it happened, as the provider says.',
      type: 'DateTime',
    }),
    processedAt: t.expose('processedAtMs', {
      description: 'When it was last applied, or tried.',
      type: 'DateTime',
    }),
  }),
});
