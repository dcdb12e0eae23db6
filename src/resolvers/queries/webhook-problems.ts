import { listWebhookProblems } from '../../ledger/operations/read-webhook-events.ts';
import { PAGE_WORDS, builder } from '../../schema/builder.ts';
import { WebhookEventConnection, connectionOf, listCost, pageRequest } from '../../schema/connections.ts';

builder.queryField('webhookProblems', (t) =>
  t.field({
    type: WebhookEventConnection,
    nullable: true,
    description:
      "Admin: provider events that matched no payment of ours (MISMATCH) or couldn't be applied yet (FAILED).",
    authScopes: { permission: 'READ_WEBHOOK_PROBLEMS' },
    args: {
      first: t.arg.int({ description: PAGE_WORDS.first }),
      after: t.arg.string({ description: PAGE_WORDS.after }),
    },
    complexity: listCost,
    resolve: (_root, args, { ledger, viewer }) =>
      connectionOf(() => listWebhookProblems(ledger, viewer, pageRequest(args))),
  }),
);
