import {
  METRIC,
  type NetChange,
  type Posting,
  ledgerAccount,
  netChanges,
} from '../ledger/model/entries/entry.ts';
import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { amountText } from './amounts.ts';
import { builder } from './builder.ts';
import { ITEM_COST, PART_COST } from './costs.ts';
import { OperationEnum } from './enums.ts';
import { Node, nodeId } from './node.ts';
import { EntryType, type OfTenant, OrderType } from './refs.ts';

const BalanceChangeType = builder.objectRef<OfTenant<NetChange>>('BalanceChange').implement({
  description: 'What an entry did to one balance of its account.',
  fields: (t) => ({
    asset: t.exposeString('asset', { description: 'The asset, such as ECOPAY.' }),
    amount: t.field({
      description: "Signed, in the asset's full scale: above zero came in, below zero went out.",
      type: 'Decimal',
      resolve: ({ tenant, asset, net }, _args, { ledger }) => amountText(ledger, tenant, asset, net),
    }),
  }),
});

const PostingType = builder.objectRef<OfTenant<Posting>>('Posting').implement({
  description: 'An amount that moves from one ledger account to another.',
  fields: (t) => ({
    debit: t.exposeString('debit', {
      description:
        'Where it comes from: wallet:<account>, merchant:<id>, stripe, cash:<merchant>/<terminal>, receivable:<account>, surplus:<order> or issuer.',
    }),
    credit: t.exposeString('credit', { description: 'Where it goes to; named like `debit`.' }),
    asset: t.exposeString('asset', { description: 'An asset such as ECOPAY, or a currency such as JPY.' }),
    amount: t.field({
      description: "Above zero, in the unit's full scale.",
      type: 'Decimal',
      resolve: ({ tenant, asset, amount }, _args, { ledger }) => amountText(ledger, tenant, asset, amount),
    }),
  }),
});

/** What is counted for the account beside its money: its metrics show it. */
const COUNTED: readonly string[] = Object.values(METRIC);

EntryType.implement({
  description:
    'One balanced ledger transaction of an account: every posting moves an amount of an asset from one account to another.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ tenant, accountId, entryId }) => encodeNodeId('Entry', tenant, accountId, entryId)),
    accountId: t.exposeID('accountId', {
      description: "Whose it is, by the operator's own name for the account.",
    }),
    operation: t.expose('operation', { description: 'What it books.', type: OperationEnum }),
    changes: t.field({
      type: [BalanceChangeType],
      complexity: PART_COST.postings,
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
      complexity: PART_COST.postings,
      resolve: ({ tenant, postings }) =>
        postings.filter(({ asset }) => !COUNTED.includes(asset)).map((posting) => ({ ...posting, tenant })),
    }),
    order: t.field({
      description: "What it was booked for. Null: an adjustment, or an order that is not the viewer's.",
      type: OrderType,
      complexity: ITEM_COST,
      nullable: true,
      resolve: ({ tenant, accountId, orderId }, _args, { load }) =>
        orderId === undefined ? null : load.order({ tenant, accountId, orderId }),
    }),
    actor: t.exposeString('actor', {
      description:
        'Who made it: the `subject` of a token, or a word such as `stripe` or `worker` for what nobody asked for.',
    }),
    approver: t.exposeString('approver', {
      description: 'Who approved it, where a second admin had to. Null: it needed none.',
      nullable: true,
    }),
    at: t.expose('atMs', { description: 'When it was committed.', type: 'DateTime' }),
  }),
});
