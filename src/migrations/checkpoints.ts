import { isDeepStrictEqual } from 'node:util';
import {
  type StoredItem,
  optionalMap,
  readBoolean,
  readInteger,
  readString,
} from '../ledger/kernel/attributes.ts';
import { type ItemKey, systemKey } from '../ledger/kernel/keys.ts';
import type { PlannedItem } from '../ledger/items/plan.ts';
import type { Migration } from './legacy-record.ts';
import { type MigrationState, SYSTEM_NAME, integers, putOver } from './state.ts';
import { type Toolkit, UndecidedError, commitOver, stateOf } from './toolkit.ts';

/** How far a walk is. */
export interface Progress {
  readonly scanned: number;
  readonly handled: number;
  readonly failed: number;
}

/** How far a walk is in one segment. */
export interface Checkpoint extends Progress {
  readonly walkId: string;
  /** Goes on after this item; absent at the beginning, and at the end. */
  readonly after?: ItemKey;
  readonly ended: boolean;
  /** As of a state: two runs can't both go on in a segment. */
  readonly rev: number;
}

function checkpointKey(id: string, segment: number): ItemKey {
  return systemKey(SYSTEM_NAME, `CHECKPOINT#${id}#${segment}`);
}

function readCheckpoint(item: StoredItem): Checkpoint {
  const after = optionalMap(item, 'after');
  return {
    walkId: readString(item, 'walk'),
    ended: readBoolean(item, 'ended'),
    scanned: readInteger(item, 'scanned'),
    handled: readInteger(item, 'handled'),
    failed: readInteger(item, 'failed'),
    rev: readInteger(item, 'rev'),
    ...(after === undefined ? {} : { after: { uuid: readString(after, 'u'), type: readString(after, 't') } }),
  };
}

/** Writes a checkpoint over the one that was read. */
function putCheckpoint(id: string, segment: number, checkpoint: Checkpoint): PlannedItem {
  const { walkId, after, ended, scanned, handled, failed, rev } = checkpoint;
  return putOver(checkpointKey(id, segment), rev, {
    walk: walkId,
    after: after === undefined ? undefined : { u: after.uuid, t: after.type },
    ended,
    ...integers({ scanned, handled, failed }),
  });
}

/** Another run took up the walk, or the phase changed: this one stops where it is, and nothing is lost. */
export class StoppedError extends Error {}
export const PHASE_CHANGED = 'The phase changed while the backfill ran: it stopped.';
const OVERTAKEN = 'Another backfill is on the same walk: this one stopped. If both did, run it again.';

/** What the segments' checkpoints of one run have in common. */
interface CheckpointedRun {
  readonly toolkit: Toolkit;
  readonly migration: Migration;
  /** As it was when the run began. */
  readonly state: MigrationState;
  readonly walkId: string;
}

/** Where a walk begins in a segment; `rev` is that of the checkpoint that it will write over. */
export function beginning(walkId: string, rev = 0): Checkpoint {
  return { walkId, ended: false, scanned: 0, handled: 0, failed: 0, rev };
}

/** Where a walk goes on in a segment: at its own last checkpoint there, or at the beginning. */
export async function startingPoint(run: CheckpointedRun, segment: number): Promise<Checkpoint> {
  const found = await readSaved(run, segment);
  return found?.walkId === run.walkId ? found : beginning(run.walkId, found?.rev);
}

async function readSaved(
  { toolkit, migration }: CheckpointedRun,
  segment: number,
): Promise<Checkpoint | undefined> {
  const [item] = await toolkit.table.store.get([checkpointKey(migration.id, segment)]);
  return item === undefined ? undefined : readCheckpoint(item);
}

const MAX_SAVES = 10;
const SAVE_PAUSE_MS = 100;

/** Keeps how far a run is. Throws StoppedError where it must not go on, UndecidedError where the table is too busy. */
export async function saveCheckpoint(
  run: CheckpointedRun,
  segment: number,
  checkpoint: Checkpoint,
): Promise<Checkpoint> {
  const { toolkit, migration, state: begun, walkId } = run;
  const state = await stateOf(toolkit.table.store, migration);
  if (state?.version !== begun.version || state.walk?.walkId !== walkId)
    throw new StoppedError(PHASE_CHANGED);
  const saved = { ...checkpoint, rev: checkpoint.rev + 1 };
  for (let tries = 0; tries < MAX_SAVES; tries += 1) {
    if (tries > 0) await toolkit.wait(SAVE_PAUSE_MS * tries);
    const items = [putCheckpoint(migration.id, segment, checkpoint)];
    const kind = await commitOver(toolkit, items, async () =>
      isDeepStrictEqual(await readSaved(run, segment), saved),
    );
    if (kind === 'COMMITTED') return saved;
    if (kind === 'REFUSED') throw new StoppedError(OVERTAKEN);
  }
  throw new UndecidedError();
}
