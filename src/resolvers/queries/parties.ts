import { maySeeBalances } from '../../auth/permissions.ts';
import { isId } from '../../ledger/kernel/id-grammar.ts';
import { listMerchants } from '../../ledger/usecases/queries/read-merchants.ts';
import { builder } from '../../schema/builder.ts';
import { merchantsCost } from '../../schema/costs.ts';
import { MerchantType, ViewerType, WalletType } from '../../schema/refs.ts';

/** Who takes part: whoever asks, accounts and merchants. */
builder.queryFields((t) => ({
  viewer: t.field({
    type: ViewerType,
    description: 'Who asks.',
    resolve: (_root, _args, { viewer }) => viewer,
  }),
  wallet: t.field({
    type: WalletType,
    nullable: true,
    description:
      "Another account's wallet, for a terminal (balances only) or an admin; one's own is viewer.wallet.",
    authScopes: { permission: 'READ_OTHER_WALLET' },
    args: {
      accountId: t.arg.id({ required: true, description: "The operator's own name for the account." }),
    },
    resolve: (_root, { accountId }, { viewer: { tenant }, viewer }) =>
      isId(accountId) && maySeeBalances(viewer, tenant, accountId) ? { tenant, accountId } : null,
  }),
  merchants: t.field({
    type: [MerchantType],
    complexity: merchantsCost,
    description: 'Who sells at this tenant.',
    resolve: (_root, _args, { ledger, viewer }) => listMerchants(ledger, viewer),
  }),
}));
