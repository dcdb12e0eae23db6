import { listDeadSteps } from '../../ledger/usecases/queries/read-dead-steps.ts';
import { listOpenProposals } from '../../ledger/usecases/queries/read-proposals.ts';
import { listWebhookProblems } from '../../ledger/usecases/queries/read-webhook-events.ts';
import { PAGE_WORDS, builder } from '../../schema/builder.ts';
import {
  ProposalConnection,
  StepConnection,
  WebhookEventConnection,
  connectionOf,
} from '../../schema/connections.ts';
import { pageCost } from '../../schema/costs.ts';

/** What an admin looks through. These lists are paged forward only. */
builder.queryFields((t) => {
  const forward = () => ({
    first: t.arg.int({ description: PAGE_WORDS.first }),
    after: t.arg.string({ description: PAGE_WORDS.after }),
  });
  return {
    deadSteps: t.field({
      type: StepConnection,
      nullable: true,
      description: 'Admin: the dead-letter queue, follow-ups that ran out of attempts.',
      authScopes: { permission: 'READ_DEAD_STEPS' },
      args: forward(),
      complexity: pageCost,
      resolve: (_root, args, { ledger, viewer }) =>
        connectionOf(args, (page) => listDeadSteps(ledger, viewer, page)),
    }),
    proposals: t.field({
      type: ProposalConnection,
      nullable: true,
      description: 'Admin: what waits for the decision of a second admin, newest first.',
      authScopes: { permission: 'READ_PROPOSALS' },
      args: forward(),
      complexity: pageCost,
      resolve: (_root, args, { ledger, viewer }) =>
        connectionOf(args, (page) => listOpenProposals(ledger, viewer, page)),
    }),
    webhookProblems: t.field({
      type: WebhookEventConnection,
      nullable: true,
      description:
        "Admin: provider events that matched no payment of ours (MISMATCH) or couldn't be applied yet (FAILED).",
      authScopes: { permission: 'READ_WEBHOOK_PROBLEMS' },
      args: forward(),
      complexity: pageCost,
      resolve: (_root, args, { ledger, viewer }) =>
        connectionOf(args, (page) => listWebhookProblems(ledger, viewer, page)),
    }),
  };
});
