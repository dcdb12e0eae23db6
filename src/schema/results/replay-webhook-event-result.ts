import type { ReplayWebhookEventSuccess as ReplayWebhookEventOutcome } from '../../ledger/operations/replay-webhook-event.ts';
import { builder } from '../builder.ts';
import { NotFound, ProviderUnavailable, Throttled, TransactionConflict } from '../failures.ts';
import { present } from '../present.ts';
import { WebhookEventType } from '../refs.ts';

const ReplayWebhookEventSuccess = builder
  .objectRef<ReplayWebhookEventOutcome>('ReplayWebhookEventSuccess')
  .implement({
    description: 'The event was fetched and looked at; `outcome` says what came of it.',
    fields: (t) => ({
      event: t.field({
        description: 'As it is now.',
        type: WebhookEventType,
        resolve: async ({ providerEventId }, _args, { load }) =>
          present(await load.webhookEvent(providerEventId), "an outcome's event"),
      }),
    }),
  });

export const ReplayWebhookEventResult = builder.unionType('ReplayWebhookEventResult', {
  description:
    'What came of `replayWebhookEvent`. More members may come: one that a client does not know is an unknown outcome.',
  types: [ReplayWebhookEventSuccess, ProviderUnavailable, TransactionConflict, Throttled, NotFound],
  resolveType: ({ kind }) => kind,
});
