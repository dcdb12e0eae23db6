import { encodeNodeId } from '../ledger/node-ids.ts';
import { WebhookOutcomeEnum } from './enums.ts';
import { Node } from './node.ts';
import { OrderType, WebhookEventType } from './refs.ts';

WebhookEventType.implement({
  interfaces: [Node],
  fields: (t) => ({
    // Whoever sees an event sees it as one of its own tenant.
    id: t.id({
      resolve: ({ eventId }, _args, { viewer }) => encodeNodeId('WebhookEvent', viewer.tenant, eventId),
    }),
    providerEventId: t.exposeString('eventId'),
    type: t.exposeString('type'),
    outcome: t.expose('outcome', { type: WebhookOutcomeEnum }),
    order: t.field({
      type: OrderType,
      nullable: true,
      resolve: ({ order }, _args, { load }) => (order === undefined ? null : load.order(order)),
    }),
    detail: t.exposeString('detail', { nullable: true }),
    occurredAt: t.field({ type: 'DateTime', resolve: ({ occurredAtMs }) => occurredAtMs }),
    processedAt: t.field({ type: 'DateTime', resolve: ({ processedAtMs }) => processedAtMs }),
  }),
});
