import { z } from 'zod';
import { maySeeHistory } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { NOT_FOUND, type PlainFailure, invalid } from '../../model/outcomes.ts';
import { updateProfileFields } from '../../items/profile-writes.ts';
import { CLEAR, type ProfileField, type ProfileFields } from '../../model/record-changes.ts';
import { idText, optional, parseInput, shortText } from '../runtime/input.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { setValues } from '../runtime/set-values.ts';

export interface UpdateProfileSuccess {
  readonly kind: 'UpdateProfileSuccess';
  readonly accountId: string;
}

const E164 = /^\+[1-9]\d{6,14}$/;

const inputSchema = z.strictObject({
  accountId: optional(idText),
  displayName: shortText(100).nullable().optional(),
  email: z.email().max(254).nullable().optional(),
  phoneNumber: z.string().regex(E164, { error: 'in international form: +81312345678' }).nullable().optional(),
});

/** Absent fields stay as they are; an explicit null clears. Sets values, so repeating it is safe. */
export async function updateProfile(
  ledger: Ledger,
  viewer: Viewer,
  input: z.input<typeof inputSchema>,
): Promise<UpdateProfileSuccess | PlainFailure> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { accountId = viewer.role === 'CUSTOMER' ? viewer.subject : undefined, ...fields } = parsed.value;
  if (accountId === undefined) return invalid(['accountId'], 'required', 'is missing: whose profile it is');
  if (!maySeeHistory(viewer, viewer.tenant, accountId)) return NOT_FOUND;
  const failure = await setValues(ledger, {
    items: [
      updateProfileFields(
        { tenant: viewer.tenant, accountId },
        {
          ...fieldChange('display_name', fields.displayName),
          ...fieldChange('email', fields.email),
          ...fieldChange('phone_number', fields.phoneNumber),
        },
        ledger.clock.nowMs(),
      ),
    ],
  });
  return failure ?? { kind: 'UpdateProfileSuccess', accountId };
}

function fieldChange(field: ProfileField, given: string | null | undefined): ProfileFields {
  return given === undefined ? {} : { [field]: given ?? CLEAR };
}
