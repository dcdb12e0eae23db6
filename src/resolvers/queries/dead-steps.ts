import { listDeadSteps } from '../../ledger/operations/read-dead-steps.ts';
import { PAGE_WORDS, builder } from '../../schema/builder.ts';
import { StepConnection, connectionOf, listCost, pageRequest } from '../../schema/connections.ts';

builder.queryField('deadSteps', (t) =>
  t.field({
    type: StepConnection,
    nullable: true,
    description: 'Admin: the dead-letter queue, follow-ups that ran out of attempts.',
    authScopes: { permission: 'READ_DEAD_STEPS' },
    args: {
      first: t.arg.int({ description: PAGE_WORDS.first }),
      after: t.arg.string({ description: PAGE_WORDS.after }),
    },
    complexity: listCost,
    resolve: (_root, args, { ledger, viewer }) =>
      connectionOf(() => listDeadSteps(ledger, viewer, pageRequest(args))),
  }),
);
