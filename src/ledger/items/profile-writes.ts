import { toAttribute, toAttributes } from '../kernel/attributes.ts';
import { integer } from '../kernel/integers.ts';
import { type AccountRef, profileKey } from '../kernel/keys.ts';
import type { PlannedItem } from './plan.ts';
import { type ProfileFields, addFieldChanges, noClauses, updateExpression } from '../model/record-changes.ts';

/** Sets and clears fields of a profile; what isn't given stays. A profile that isn't there is made. */
export function updateProfileFields(account: AccountRef, fields: ProfileFields, atMs: number): PlannedItem {
  const clauses = noClauses();
  addFieldChanges(clauses, fields);
  return {
    role: 'profile',
    item: {
      Update: {
        Key: toAttributes({ ...profileKey(account) }),
        UpdateExpression: updateExpression({ ...clauses, sets: ['#updated_at = :at', ...clauses.sets] }),
        ExpressionAttributeNames: { '#updated_at': 'updated_at', ...clauses.names },
        ExpressionAttributeValues: { ':at': toAttribute(integer(atMs)), ...clauses.values },
      },
    },
    change: { kind: 'PROFILE', tenant: account.tenant, accountId: account.accountId, fields, atMs },
  };
}
