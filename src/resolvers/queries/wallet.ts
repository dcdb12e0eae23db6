import { maySeeBalances } from '../../auth/permissions.ts';
import { isId } from '../../ledger/id-grammar.ts';
import { builder } from '../../schema/builder.ts';
import { WalletType } from '../../schema/refs.ts';

builder.queryField('wallet', (t) =>
  t.field({
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
);
