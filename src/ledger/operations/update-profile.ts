import { z } from 'zod';
import { maySeeHistory } from '../../auth/permissions.ts';
import type { Viewer } from '../../auth/viewer.ts';
import { type AttributeValue, toAttribute, toAttributes } from '../attributes.ts';
import { integer } from '../integers.ts';
import { profileKey } from '../keys.ts';
import { NOT_FOUND, type PlainFailure } from '../outcomes.ts';
import type { PlanPart } from '../plan.ts';
import { idText, optional, parseInput, shortText } from './input.ts';
import type { Ledger } from './ledger.ts';
import { setValues } from './plain-command.ts';

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

/** Each field of a profile and the attribute that keeps it. */
const FIELDS = { displayName: 'display_name', email: 'email', phoneNumber: 'phone_number' } as const;

/** Absent fields stay as they are; an explicit null clears. Sets values, so repeating it is safe. */
export async function updateProfile(
  ledger: Ledger,
  viewer: Viewer,
  input: unknown,
): Promise<UpdateProfileSuccess | PlainFailure> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { accountId = viewer.subject, ...fields } = parsed.value;
  if (!maySeeHistory(viewer, viewer.tenant, accountId)) return NOT_FOUND;
  const failure = await setValues(
    ledger,
    profileUpdate(ledger, { tenant: viewer.tenant, accountId }, fields),
  );
  return failure ?? { kind: 'UpdateProfileSuccess', accountId };
}

function profileUpdate(
  ledger: Ledger,
  account: Parameters<typeof profileKey>[0],
  fields: Partial<Record<keyof typeof FIELDS, string | null | undefined>>,
): PlanPart {
  const sets = ['#updated_at = :at'];
  const clears: string[] = [];
  const names: Record<string, string> = { '#updated_at': 'updated_at' };
  const values: Record<string, AttributeValue> = { ':at': toAttribute(integer(ledger.clock.nowMs())) };
  for (const [field, attribute] of Object.entries(FIELDS)) {
    // Object.entries forgets that the names are FIELDS' own.
    const value = fields[field as keyof typeof FIELDS];
    if (value === undefined) continue;
    names[`#${attribute}`] = attribute;
    if (value === null) clears.push(`#${attribute}`);
    else {
      sets.push(`#${attribute} = :${attribute}`);
      values[`:${attribute}`] = { S: value };
    }
  }
  const removal = clears.length === 0 ? '' : ` REMOVE ${clears.join(', ')}`;
  return {
    items: [
      {
        role: 'other',
        item: {
          Update: {
            Key: toAttributes({ ...profileKey(account) }),
            UpdateExpression: `SET ${sets.join(', ')}${removal}`,
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: values,
          },
        },
      },
    ],
  };
}
