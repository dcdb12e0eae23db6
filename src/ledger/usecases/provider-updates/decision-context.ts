import type { DecisionContext } from '../../model/provider/update-decision.ts';
import type { Ledger } from '../runtime/ledger.ts';

/** Now, with an id for the entry that a fact may need. */
export function decisionContext({ clock, ids, followUps }: Ledger): DecisionContext {
  const atMs = clock.nowMs();
  return { atMs, entryId: ids.ulid(atMs), stepNames: followUps };
}
