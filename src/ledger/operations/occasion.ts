import type { Occasion } from '../provider/provider-facts.ts';
import type { Ledger } from './ledger.ts';

/** Now, with an id for the entry that a fact may need. */
export function occasionOf({ clock, ids, followUps }: Ledger): Occasion {
  const atMs = clock.nowMs();
  return { atMs, entryId: ids.ulid(atMs), stepNames: followUps };
}
