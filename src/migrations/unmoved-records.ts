import type { UnmovedRecords } from '../ledger/audit/audit.ts';
import type { Store } from '../ledger/table/store.ts';
import { hasMoved, isRecord } from './legacy-record.ts';
import { isAtLeast } from './phases.ts';
import { readStates } from './read-migrations.ts';
import { migrationOf } from './registry.ts';

/** The records that an audit may not ask I2 of yet; undefined: no migration has any left. */
export async function unmovedRecords(store: Store): Promise<UnmovedRecords | undefined> {
  const state = (await readStates(store)).find(({ phase }) => !isAtLeast(phase, 'contract'));
  const shape = state === undefined ? undefined : migrationOf(state.id)?.shape;
  if (shape === undefined) return undefined;
  return {
    type: shape.type,
    assets: Object.keys(shape.amounts),
    isUnmoved: (item) => isRecord(shape, item) && !hasMoved(shape, item),
  };
}
