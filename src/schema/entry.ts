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
      description: 'For `node(id:)`; opaque, and the same for good.',
      resolve: ({ tenant, accountId, entryId }) => encodeNodeId('Entry', tenant, accountId, entryId),
    }),
    accountId: t.exposeID('accountId', {
      description: "Whose it is, by the operator's own name for the account.",
    }),
    operation: t.expose('operation', { description: 'What it books.', type: OperationEnum }),
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
      description:
        'Each moves an amount between two ledger accounts; together they balance. What is counted for metrics is left out.',
      type: [PostingType],
      resolve: ({ tenant, postings }) =>
        postings.filter(({ asset }) => !COUNTED.includes(asset)).map((posting) => ({ ...posting, tenant })),
    }),
    order: t.field({
      description: "What it was booked for. Null: an adjustment, or an order that is not the viewer's.",
      type: OrderType,
      nullable: true,
      resolve: ({ tenant, accountId, orderId }, _args, { load }) =>
        orderId === undefined ? null : load.order({ tenant, accountId, orderId }),
    }),
    actor: t.exposeString('actor', {
      description:
        'Who made it: the `subject` of a token, or a word such as `stripe` or `worker` for what nobody asked for.',
    }),
    at: t.field({ description: 'When it was committed.', type: 'DateTime', resolve: ({ atMs }) => atMs }),
  }),
});
