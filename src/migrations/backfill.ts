import { type StoredItem, readString, toAttributes } from '../ledger/kernel/attributes.ts';
import type { Plan } from '../ledger/items/plan.ts';
import {
  type Checkpoint,
  PHASE_CHANGED,
  type Progress,
  StoppedError,
  beginning,
  saveCheckpoint,
  startingPoint,
} from './checkpoints.ts';
import type { Migration } from './legacy-record.ts';
import { type Handled, foresee, handleRecord } from './move.ts';
import { type CapacityLimiter, inSegments, pages } from './scan.ts';
import type { MigrationState } from './state.ts';
import { type StepRefusal, type Toolkit, stepRefusal, stateOf, writeState } from './toolkit.ts';
import { type MigrationView, createMigrationView } from './view.ts';

export interface BackfillOptions {
  /** Into how many parts the table is cut; all are walked at the same time. A walk that goes on keeps its own. */
  readonly segments: number;
  /** How many items are read before the next checkpoint. */
  readonly pageSize?: number;
  readonly limiter?: CapacityLimiter;
  readonly dryRun?: boolean;
  readonly onProgress?: (progress: Progress) => void;
}

export interface LeftRecord {
  readonly record: string;
  readonly reason: string;
}

export type BackfillResult =
  | {
      readonly kind: 'FINISHED';
      readonly dryRun: boolean;
      /** Whether an earlier run's checkpoints were taken up. */
      readonly resumed: boolean;
      readonly scanned: number;
      /** Records moved, or in `cleanup` removed; of a dry run, those that would be. */
      readonly handled: number;
      readonly left: number;
      /** The first of them. */
      readonly leftRecords: readonly LeftRecord[];
    }
  | StepRefusal;

const PAGE_SIZE = 100;
const MAX_LEFT_LISTED = 100;

/**
 * Walks the whole table and moves each record of the old shape, exactly once; in `cleanup` it removes what has moved.
 * Killed at any moment it goes on from its checkpoints when it is run again.
 */
export async function backfill(
  toolkit: Toolkit,
  migration: Migration,
  options: BackfillOptions,
): Promise<BackfillResult> {
  const { table, clock } = toolkit;
  const { dryRun = false } = options;
  const state = await stateOf(table.store, migration);
  if (state === undefined) return stepRefusal('It has not begun.');
  if (!['backfill', 'verify', 'cleanup'].includes(state.phase))
    return stepRefusal(
      `A backfill runs in the phases backfill and verify, and in cleanup; this is ${state.phase}.`,
    );
  const resumed = !dryRun && isResumable(state);
  const begun = dryRun || resumed ? state : await begin(toolkit, state, options.segments);
  if (begun === undefined) return stepRefusal('Somebody else changed the state of the migration meanwhile.');
  const walk = dryRun ? undefined : begun.walk;
  const run: Run = {
    toolkit,
    migration,
    state: begun,
    view: createMigrationView({ ...table, ...toolkit }),
    walkId: walk?.walkId ?? 'dry run',
    segments: walk?.segments ?? options.segments,
    options,
    reached: new Map(),
    leftRecords: [],
  };
  try {
    await inSegments(run.segments, (segment) => walkSegment(run, segment));
  } catch (error) {
    if (error instanceof StoppedError) return stepRefusal(error.message);
    throw error;
  } finally {
    // In an outage the heartbeat stays, and ends by itself.
    await run.view.stop().catch(() => undefined);
  }
  const { scanned, handled, failed } = totals(run);
  if (walk !== undefined) {
    const finished = { ...begun, walk: { ...walk, failed, finishedAtMs: clock.nowMs() } };
    if ((await writeState(toolkit, begun, finished)) === undefined)
      return stepRefusal('The state of the migration changed before the walk came to its end.');
  }
  return { kind: 'FINISHED', dryRun, resumed, scanned, handled, left: failed, leftRecords: run.leftRecords };
}

function isResumable({ walk, version }: MigrationState): boolean {
  return walk?.version === version && walk.finishedAtMs === undefined;
}

/** Begins a walk. What was verified before no longer counts. */
async function begin(
  toolkit: Toolkit,
  state: MigrationState,
  segments: number,
): Promise<MigrationState | undefined> {
  const { id, phase, version, sinceMs, by, rev } = state;
  const { ids, clock, operator } = toolkit;
  const begun = { version, segments, by: operator, startedAtMs: clock.nowMs(), failed: 0 };
  const walk = { walkId: ids.token(), ...begun };
  return writeState(toolkit, state, { id, phase, version, sinceMs, by, rev, walk });
}

/** One run of a walk: what every segment of it shares. */
interface Run {
  readonly toolkit: Toolkit;
  readonly migration: Migration;
  readonly state: MigrationState;
  /** A walk is one of the fleet while it moves records: no two steps are taken past it. */
  readonly view: MigrationView;
  readonly walkId: string;
  readonly segments: number;
  readonly options: BackfillOptions;
  readonly reached: Map<number, Checkpoint>;
  readonly leftRecords: LeftRecord[];
}

function totals({ reached }: Run): Progress {
  const sum = { scanned: 0, handled: 0, failed: 0 };
  for (const { scanned, handled, failed } of reached.values()) {
    sum.scanned += scanned;
    sum.handled += handled;
    sum.failed += failed;
  }
  return sum;
}

async function walkSegment(run: Run, segment: number): Promise<void> {
  const { toolkit, segments, options, reached } = run;
  const { dryRun = false, pageSize = PAGE_SIZE, onProgress } = options;
  let checkpoint = dryRun ? beginning(run.walkId) : await startingPoint(run, segment);
  reached.set(segment, checkpoint);
  if (checkpoint.ended) return;
  const start = checkpoint.after === undefined ? undefined : toAttributes({ ...checkpoint.after });
  for await (const { items, next } of pages(toolkit.table.store, segment, segments, start, pageSize)) {
    let { handled, failed } = checkpoint;
    for (const item of items) {
      await options.limiter?.settle();
      const outcome = await handle(run, item);
      if (outcome.kind === 'DONE') handled += 1;
      if (outcome.kind !== 'LEFT') continue;
      failed += 1;
      if (run.leftRecords.length < MAX_LEFT_LISTED)
        run.leftRecords.push({ record: readString(item, 'uuid'), reason: outcome.reason });
    }
    checkpoint = {
      walkId: checkpoint.walkId,
      rev: checkpoint.rev,
      scanned: checkpoint.scanned + items.length,
      handled,
      failed,
      ended: next === undefined,
      ...(next === undefined
        ? {}
        : { after: { uuid: readString(next, 'uuid'), type: readString(next, 'type') } }),
    };
    if (!dryRun) checkpoint = await saveCheckpoint(run, segment, checkpoint);
    reached.set(segment, checkpoint);
    onProgress?.(totals(run));
  }
}

async function handle({ toolkit, migration, state, view, options }: Run, item: StoredItem): Promise<Handled> {
  if (readString(item, 'type') !== migration.type) return { kind: 'NOTHING' };
  const treatment = state.phase === 'cleanup' ? 'REMOVE' : 'MOVE';
  if (options.dryRun === true) return foresee(migration, item, treatment);
  return view.act(async (acting, isCurrent) => {
    if (acting?.migration.id !== migration.id || acting.version !== state.version)
      throw new StoppedError(PHASE_CHANGED);
    const { store, transactor } = toolkit.table;
    const current = { commit: (one: Plan) => transactor.commit(one, { maySend: isCurrent }) };
    return handleRecord({ ...toolkit, table: { store, transactor: current } }, migration, item, treatment);
  });
}
