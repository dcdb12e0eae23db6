import type { ReplayWebhookEventSuccess as ReplayWebhookEventOutcome } from '../../ledger/operations/replay-webhook-event.ts';
import { builder } from '../builder.ts';
import { NotFound, ProviderUnavailable, Throttled, TransactionConflict } from '../failures.ts';
import { present } from '../present.ts';
import { WebhookEventType } from '../refs.ts';

const ReplayWebhookEventSuccess = builder
  .objectRef<ReplayWebhookEventOutcome>('ReplayWebhookEventSuccess')
  .implement({
    fields: (t) => ({
      event: t.field({
        type: WebhookEventType,
        resolve: async ({ providerEventId }, _args, { load }) =>
          present(await load.webhookEvent(providerEventId), "an outcome's event"),
      }),
    }),
  });

export const ReplayWebhookEventResult = builder.unionType('ReplayWebhookEventResult', {
  types: [ReplayWebhookEventSuccess, ProviderUnavailable, TransactionConflict, Throttled, NotFound],
  resolveType: ({ kind }) => kind,
});
