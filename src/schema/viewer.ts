import { findMerchant } from '../ledger/usecases/queries/read-merchants.ts';
import { RoleEnum } from './enums.ts';
import { MerchantType, ViewerType, WalletType } from './refs.ts';

ViewerType.implement({
  description: 'Who the token speaks for.',
  fields: (t) => ({
    subject: t.exposeID('subject', {
      description: 'The `sub` of the token: of a customer its account, else a name for who works there.',
    }),
    tenant: t.exposeID('tenant', {
      description: 'The `tenant` of the token: the operator whose data this is.',
    }),
    role: t.expose('role', { description: 'The `role` of the token.', type: RoleEnum }),
    merchant: t.field({
      description: 'Where a merchant or terminal works. Null: others.',
      type: MerchantType,
      nullable: true,
      resolve: (viewer, _args, { ledger }) =>
        viewer.merchantId === undefined ? null : findMerchant(ledger, viewer, viewer.merchantId),
    }),
    wallet: t.field({
      description: "The customer's own. Null: other roles have none.",
      type: WalletType,
      nullable: true,
      // Only customers have one.
      resolve: ({ tenant, subject, role }) => (role === 'CUSTOMER' ? { tenant, accountId: subject } : null),
    }),
  }),
});
