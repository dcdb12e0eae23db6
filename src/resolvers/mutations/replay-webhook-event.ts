import { replayWebhookEvent } from '../../ledger/operations/replay-webhook-event.ts';
import { builder } from '../../schema/builder.ts';
import { ReplayWebhookEventResult } from '../../schema/results/replay-webhook-event-result.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('replayWebhookEvent', (t) =>
  t.field({
    type: ReplayWebhookEventResult,
    description:
      "Admin: fetches a provider event by its provider's id and applies it as if it had just arrived.",
    authScopes: { permission: 'REPLAY_WEBHOOK_EVENT' },
    args: { providerEventId: t.arg.string({ required: true, description: 'Such as `evt_…`.' }) },
    resolve: (_root, { providerEventId }, context) =>
      runOperation(context, 'replayWebhookEvent', (ledger) =>
        replayWebhookEvent(ledger, context.viewer, providerEventId),
      ),
  }),
);
