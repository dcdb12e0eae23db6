import { walletEntriesSource } from '../../realtime/sources.ts';
import { builder } from '../../schema/builder.ts';
import { present } from '../../schema/present.ts';
import { EntryType } from '../../schema/refs.ts';

builder.subscriptionField('walletEntries', (t) =>
  t.field({
    type: EntryType,
    description:
      "Live entries of one account. After a reconnect page the wallet's entries; deduplicate by id.",
    authScopes: { permission: 'WATCH_WALLET_ENTRIES' },
    args: {
      accountId: t.arg.id({ required: true, description: "The operator's own name for the account." }),
    },
    subscribe: (_root, args, { realtime, viewer }) => walletEntriesSource(realtime, viewer, args),
    resolve: async ({ entry }, _args, { load }) => present(await load.entry(entry), 'an entry'),
  }),
);
