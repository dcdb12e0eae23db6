import { CONFLICT, THROTTLED, type UnstoredOf } from '../../model/outcomes.ts';
import { type PlanPart, plan } from '../../items/plan.ts';
import { type Ledger, commit } from './ledger.ts';

/**
 * Writes values that a repeat would set again: no key is needed, and an unknown outcome may just be tried again.
 * Undefined when it is done.
 */
export async function setValues(
  ledger: Ledger,
  ...parts: readonly PlanPart[]
): Promise<UnstoredOf<'TransactionConflict' | 'Throttled'> | undefined> {
  const result = await commit(ledger, plan(ledger.ids.token(), ...parts));
  switch (result.kind) {
    case 'COMMITTED':
      return undefined;
    case 'SEEN':
    case 'REFUSED':
    case 'UNCLEAR':
    case 'CONFLICT':
      return CONFLICT;
    case 'THROTTLED':
    case 'UNKNOWN':
      return THROTTLED;
  }
}
