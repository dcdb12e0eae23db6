import {
  type UpdateProfileSuccess as UpdateProfileOutcome,
  updateProfile,
} from '../../ledger/usecases/commands/update-profile.ts';
import { builder } from '../../schema/builder.ts';
import { PLAIN_FAILURES } from '../../schema/failures.ts';
import { WalletType } from '../../schema/refs.ts';
import { resultUnion } from '../../schema/results.ts';
import { inputArgument, mutation } from '../declare-mutation.ts';

const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  description: 'What changes. Absent: stays; null: is cleared.',
  fields: (t) => ({
    accountId: t.id({
      description:
        "Admin: whose profile, by the operator's own name for the account. A customer leaves it out.",
    }),
    displayName: t.string({ description: 'For people, 1 to 100 characters.' }),
    email: t.string({ description: 'An email address of at most 254 characters.' }),
    phoneNumber: t.string({ description: 'In international form: "+81312345678".' }),
  }),
});

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

mutation('updateProfile', {
  description:
    'Absent fields stay as they are; an explicit null clears. Sets values, so repeating it is safe.',
  permission: 'UPDATE_PROFILE',
  args: (arg) => ({ input: inputArgument(arg, UpdateProfileInput) }),
  result: resultUnion('updateProfile', UpdateProfileSuccess, [...PLAIN_FAILURES]),
  run: (ledger, viewer, { input }) => updateProfile(ledger, viewer, input),
});
