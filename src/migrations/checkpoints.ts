import { isDeepStrictEqual } from 'node:util';
import { plan } from '../ledger/items/plan.ts';
import type { Store } from '../ledger/table/store.ts';
import { type Checkpoint, checkpointKey, putCheckpoint, readCheckpoint } from './checkpoint-item.ts';
import type { Migration } from './migration.ts';
import { readStates } from './read-migrations.ts';
import type { MigrationState } from './state.ts';
import { type Toolkit, UndecidedError } from './steps.ts';

/** Another run took up the walk, or the phase changed: this one stops where it is, and nothing is lost. */
export class StoppedError extends Error {}

export class PhaseChangedError extends StoppedError {
  constructor() {
    super('The phase changed while the backfill ran: it stopped.');
    this.name = 'PhaseChangedError';
  }
}

class OvertakenError extends StoppedError {
  constructor() {
    super('Another backfill is on the same walk: this one stopped. If both did, run it again.');
    this.name = 'OvertakenError';
  }
}

/** Where a walk begins in a segment. `rev` is the one of the checkpoint that it will write over. */
export function fresh(walkId: string, rev: number): Checkpoint {
  return { walkId, ended: false, scanned: 0, handled: 0, failed: 0, rev };
}

/** Where a walk goes on in a segment: at its own last checkpoint there, or at the beginning. */
export async function startingPoint(
  store: Store,
  { id }: Migration,
  walkId: string,
  segment: number,
): Promise<Checkpoint> {
  const [item] = await store.get([checkpointKey(id, segment)]);
  const found = item === undefined ? undefined : readCheckpoint(item);
  return found?.walkId === walkId ? found : fresh(walkId, found?.rev ?? 0);
}

/** Keeps how far a run is. Throws StoppedError where it must not go on. */
export async function saveCheckpoint(
  { table, ids, wait }: Toolkit,
  { id }: Migration,
  begun: MigrationState,
  segment: number,
  checkpoint: Checkpoint,
): Promise<Checkpoint> {
  const state = (await readStates(table.store)).find((one) => one.id === id);
  if (state?.version !== begun.version || state.walk?.walkId !== checkpoint.walkId) {
    throw new PhaseChangedError();
  }
  for (let tries = 0; tries < 10; tries += 1) {
    if (tries > 0) await wait(100 * tries);
    const part = { items: [putCheckpoint(id, segment, checkpoint)] };
    const result = await table.transactor.commit(plan(ids.token(), part));
    const saved = { ...checkpoint, rev: checkpoint.rev + 1 };
    if (result.kind === 'COMMITTED') return saved;
    const [item] = await table.store.get([checkpointKey(id, segment)]);
    // After a lost answer it may have been us.
    if (item !== undefined && isDeepStrictEqual(readCheckpoint(item), saved)) return saved;
    if (result.kind === 'REFUSED') throw new OvertakenError();
  }
  throw new UndecidedError();
}
