import { encodeNodeId } from '../ledger/node-ids.ts';
import { listEntries } from '../ledger/operations/read-entries.ts';
import { assetsOf } from '../ledger/operations/read-wallets.ts';
import { EntryConnection, EntryEdge, connectionOf, listCost, pageRequest } from './connections.ts';
import { Node } from './node.ts';
import { present } from './present.ts';
import { AccountMetricsType, BalanceType, EntryType, ProfileType, WalletType } from './refs.ts';

WalletType.implement({
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ resolve: ({ tenant, accountId }) => encodeNodeId('Wallet', tenant, accountId) }),
    accountId: t.exposeID('accountId'),
    balances: t.field({
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
        args: { asset: t.arg.string() },
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
      type: ProfileType,
      nullable: true,
      resolve: (account, _args, { load }) => load.profile(account),
    }),
    metrics: t.field({
      type: AccountMetricsType,
      nullable: true,
      resolve: async ({ tenant, accountId }, _args, { load }) => {
        const metrics = await load.metrics({ tenant, accountId });
        return metrics === undefined ? null : { ...metrics, tenant };
      },
    }),
  }),
});
