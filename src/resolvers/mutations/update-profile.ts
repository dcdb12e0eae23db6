import { updateProfile } from '../../ledger/operations/update-profile.ts';
import { builder } from '../../schema/builder.ts';
import { UpdateProfileInput } from '../../schema/inputs/update-profile-input.ts';
import { UpdateProfileResult } from '../../schema/results/update-profile-result.ts';
import { runOperation } from '../run-operation.ts';

builder.mutationField('updateProfile', (t) =>
  t.field({
    type: UpdateProfileResult,
    description:
      'Absent fields stay as they are; an explicit null clears. Sets values, so repeating it is safe.',
    authScopes: { permission: 'UPDATE_PROFILE' },
    args: { input: t.arg({ type: UpdateProfileInput, required: true, description: 'What is asked for.' }) },
    resolve: (_root, { input }, context) =>
      runOperation(context, 'updateProfile', (ledger) => updateProfile(ledger, context.viewer, input)),
  }),
);
