import type { UpdateProfileSuccess as UpdateProfileOutcome } from '../../ledger/operations/update-profile.ts';
import { builder } from '../builder.ts';
import { InvalidInput, NotFound, Throttled, TransactionConflict } from '../failures.ts';
import { WalletType } from '../refs.ts';

const UpdateProfileSuccess = builder.objectRef<UpdateProfileOutcome>('UpdateProfileSuccess').implement({
  fields: (t) => ({
    wallet: t.field({
      type: WalletType,
      resolve: ({ accountId }, _args, { viewer }) => ({ tenant: viewer.tenant, accountId }),
    }),
  }),
});

export const UpdateProfileResult = builder.unionType('UpdateProfileResult', {
  types: [UpdateProfileSuccess, TransactionConflict, Throttled, InvalidInput, NotFound],
  resolveType: ({ kind }) => kind,
});
