import { METRIC } from '../ledger/model/entries/entry.ts';
import { plainDecimal } from '../ledger/kernel/money.ts';
import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { listEntries } from '../ledger/usecases/queries/read-entries.ts';
import { type AccountMetrics, type Profile, assetsOf } from '../ledger/usecases/queries/read-wallets.ts';
import { amountText } from './amounts.ts';
import { builder } from './builder.ts';
import { EntryConnection, connectionOf } from './connections.ts';
import { ITEM_COST, balancesCost, pageCost } from './costs.ts';
import { Node, nodeId } from './node.ts';
import { present } from './present.ts';
import { BalanceType, type OfTenant, WalletType } from './refs.ts';

const ProfileType = builder.objectRef<Profile>('Profile').implement({
  description: 'How to call and reach a customer. Each is null until it is given, and when it is cleared.',
  fields: (t) => ({
    displayName: t.exposeString('displayName', {
      description: 'For people, 1 to 100 characters.',
      nullable: true,
    }),
    email: t.exposeString('email', { description: 'An email address.', nullable: true }),
    phoneNumber: t.exposeString('phoneNumber', {
      description: 'In international form: "+81312345678".',
      nullable: true,
    }),
  }),
});

const AccountMetricsType = builder.objectRef<OfTenant<AccountMetrics>>('AccountMetrics').implement({
  description:
    'What an account has come to beside its money, by wallet charges and what was taken back of them.',
  fields: (t) => ({
    chargedTotal: t.field({
      type: 'Decimal',
      description:
        "What its balances have paid, less what was refunded, in the tenant's currency; counted where the tenant gives rewards.",
      resolve: ({ tenant, chargedTotal }, _args, { ledger }) =>
        amountText(ledger, tenant, METRIC.charged, chargedTotal),
    }),
    co2ReductionKg: t.field({
      description: 'Kilograms of CO2 saved, by the rate of the tenant.',
      type: 'Decimal',
      resolve: ({ co2ReductionKg }) => plainDecimal(co2ReductionKg),
    }),
  }),
});

WalletType.implement({
  description: "An account's balances, and their history.",
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ tenant, accountId }) => encodeNodeId('Wallet', tenant, accountId)),
    accountId: t.exposeID('accountId', { description: "The operator's own name for the account." }),
    balances: t.field({
      description: 'One of each asset that the tenant has, also where nothing was booked.',
      type: [BalanceType],
      complexity: balancesCost,
      resolve: (account, _args, { ledger, load }) =>
        Promise.all(
          assetsOf(ledger, account.tenant).map(async (asset) =>
            present(await load.balance({ ...account, asset }), 'a balance'),
          ),
        ),
    }),
    entries: t.field({
      type: EntryConnection,
      nullable: true,
      description: 'The newest first. Null to whoever may see balances alone.',
      args: {
        ...t.arg.connectionArgs(),
        asset: t.arg.string({ description: 'Only those that changed this balance. Null: all.' }),
      },
      complexity: pageCost,
      resolve: (account, args, { ledger, viewer }) =>
        connectionOf(args, (page) => listEntries(ledger, viewer, account, args.asset ?? undefined, page)),
    }),
    profile: t.field({
      description: 'Null to whoever may see balances alone.',
      type: ProfileType,
      complexity: ITEM_COST,
      nullable: true,
      resolve: (account, _args, { load }) => load.profile(account),
    }),
    metrics: t.field({
      description: 'Null to whoever may see balances alone.',
      type: AccountMetricsType,
      complexity: ITEM_COST,
      nullable: true,
      resolve: async ({ tenant, accountId }, _args, { load }) => {
        const metrics = await load.metrics({ tenant, accountId });
        return metrics === undefined ? null : { ...metrics, tenant };
      },
    }),
  }),
});
