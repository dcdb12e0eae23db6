import {
  type ReplayWebhookEventSuccess as ReplayWebhookEventOutcome,
  replayWebhookEvent,
} from '../../ledger/usecases/provider-updates/replay-webhook-event.ts';
import { builder } from '../../schema/builder.ts';
import { NotFound, ProviderUnavailable, Throttled, TransactionConflict } from '../../schema/failures.ts';
import { present } from '../../schema/present.ts';
import { WebhookEventType } from '../../schema/refs.ts';
import { resultUnion } from '../../schema/results.ts';
import { mutation } from '../declare-mutation.ts';

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

mutation('replayWebhookEvent', {
  description:
    "Admin: fetches a provider event by its provider's id and applies it as if it had just arrived.",
  permission: 'REPLAY_WEBHOOK_EVENT',
  args: (arg) => ({ providerEventId: arg.string({ required: true, description: 'Such as `evt_…`.' }) }),
  result: resultUnion('replayWebhookEvent', ReplayWebhookEventSuccess, [
    ProviderUnavailable,
    TransactionConflict,
    Throttled,
    NotFound,
  ]),
  run: (ledger, viewer, { providerEventId }) => replayWebhookEvent(ledger, viewer, providerEventId),
});
