import type { UpdateProfileSuccess as UpdateProfileOutcome } from '../../ledger/operations/update-profile.ts';
import { builder } from '../builder.ts';
import { InvalidInput, NotFound, Throttled, TransactionConflict } from '../failures.ts';
import { WalletType } from '../refs.ts';

const UpdateProfileSuccess = builder.objectRef<UpdateProfileOutcome>('UpdateProfileSuccess').implement({
  description: 'The profile has these values now.',
  fields: (t) => ({
    wallet: t.field({
      description: 'Of whom it is; its `profile` is as it is now.',
      type: WalletType,
      resolve: ({ accountId }, _args, { viewer }) => ({ tenant: viewer.tenant, accountId }),
    }),
  }),
});

export const UpdateProfileResult = builder.unionType('UpdateProfileResult', {
  description:
    'What came of `updateProfile`. More members may come: one that a client does not know is an unknown outcome.',
  types: [UpdateProfileSuccess, TransactionConflict, Throttled, InvalidInput, NotFound],
  resolveType: ({ kind }) => kind,
});
