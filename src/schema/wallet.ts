import { encodeNodeId } from '../ledger/node-ids.ts';
import { listEntries } from '../ledger/operations/read-entries.ts';
import { assetsOf } from '../ledger/operations/read-wallets.ts';
import { EntryConnection, EntryEdge, connectionOf, listCost, pageRequest } from './connections.ts';
import { Node } from './node.ts';
import { present } from './present.ts';
import { AccountMetricsType, BalanceType, EntryType, ProfileType, WalletType } from './refs.ts';

WalletType.implement({
  description: "An account's balances, and their history.",
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      description: 'For `node(id:)`; opaque, and the same for good.',
      resolve: ({ tenant, accountId }) => encodeNodeId('Wallet', tenant, accountId),
    }),
    accountId: t.exposeID('accountId', { description: "The operator's own name for the account." }),
    balances: t.field({
      description: 'One of each asset that the tenant has, also where nothing was booked.',
      type: [BalanceType],
      resolve: (account, _args, { ledger, load }) =>
        Promise.all(
          assetsOf(ledger, account.tenant).map(async (asset) =>
            present(await load.balance({ ...account, asset }), 'a balance'),
          ),
        ),
    }),
    entries: t.connection(
      {
        type: EntryType,
        nullable: true,
        description: 'The newest first. Null to whoever may see balances alone.',
        args: { asset: t.arg.string({ description: 'Only those that changed this balance. Null: all.' }) },
        complexity: listCost,
        resolve: (account, args, { ledger, viewer }) =>
          connectionOf(() =>
            listEntries(ledger, viewer, account, args.asset ?? undefined, pageRequest(args)),
          ),
      },
      EntryConnection,
      EntryEdge,
    ),
    profile: t.field({
      description: 'Null to whoever may see balances alone.',
      type: ProfileType,
      nullable: true,
      resolve: (account, _args, { load }) => load.profile(account),
    }),
    metrics: t.field({
      description: 'Null to whoever may see balances alone.',
      type: AccountMetricsType,
      nullable: true,
      resolve: async ({ tenant, accountId }, _args, { load }) => {
        const metrics = await load.metrics({ tenant, accountId });
        return metrics === undefined ? null : { ...metrics, tenant };
      },
    }),
  }),
});
