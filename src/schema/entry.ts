import { METRIC, ledgerAccount, netChanges } from '../ledger/entry.ts';
import { encodeNodeId } from '../ledger/node-ids.ts';
import { OperationEnum } from './enums.ts';
import { Node } from './node.ts';
import { BalanceChangeType, EntryType, OrderType, PostingType } from './refs.ts';

/** What is counted for the account beside its money: its metrics show it. */
const COUNTED: readonly string[] = Object.values(METRIC);

EntryType.implement({
  description:
    'One balanced ledger transaction of an account: every posting moves an amount of an asset from one account to another.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      resolve: ({ tenant, accountId, entryId }) => encodeNodeId('Entry', tenant, accountId, entryId),
    }),
    accountId: t.exposeID('accountId'),
    operation: t.expose('operation', { type: OperationEnum }),
    changes: t.field({
      type: [BalanceChangeType],
      description: "What it did to the account's balances, signed.",
      resolve: (entry) =>
        netChanges(entry, ledgerAccount.wallet(entry.accountId)).map((change) => ({
          ...change,
          tenant: entry.tenant,
        })),
    }),
    postings: t.field({
      type: [PostingType],
      resolve: ({ tenant, postings }) =>
        postings.filter(({ asset }) => !COUNTED.includes(asset)).map((posting) => ({ ...posting, tenant })),
    }),
    order: t.field({
      type: OrderType,
      nullable: true,
      resolve: ({ tenant, accountId, orderId }, _args, { load }) =>
        orderId === undefined ? null : load.order({ tenant, accountId, orderId }),
    }),
    actor: t.exposeString('actor'),
    at: t.field({ type: 'DateTime', resolve: ({ atMs }) => atMs }),
  }),
});
