import { findMerchant } from '../ledger/operations/read-merchants.ts';
import { RoleEnum } from './enums.ts';
import { MerchantType, ViewerType, WalletType } from './refs.ts';

ViewerType.implement({
  description: 'Who the token speaks for.',
  fields: (t) => ({
    subject: t.exposeID('subject'),
    tenant: t.exposeID('tenant'),
    role: t.expose('role', { type: RoleEnum }),
    merchant: t.field({
      type: MerchantType,
      nullable: true,
      resolve: (viewer, _args, { ledger }) =>
        viewer.merchantId === undefined ? null : findMerchant(ledger, viewer, viewer.merchantId),
    }),
    wallet: t.field({
      type: WalletType,
      nullable: true,
      // Only customers have one.
      resolve: ({ tenant, subject, role }) => (role === 'CUSTOMER' ? { tenant, accountId: subject } : null),
    }),
  }),
});
