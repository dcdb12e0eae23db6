import { type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import type { CapacityLimiter } from './capacity.ts';
import type { Checkpoint } from './checkpoint-item.ts';
import { PhaseChangedError, StoppedError, fresh, saveCheckpoint, startingPoint } from './checkpoints.ts';
import type { Table } from './migrating-table.ts';
import type { Migration } from './migration.ts';
import { type Handled, foresee, moveRecord, removeRecord } from './move-record.ts';
import type { Progress } from './progress.ts';
import { readStates } from './read-migrations.ts';
import { pages } from './scan.ts';
import { type MigrationState, type Walk, withoutVerification } from './state.ts';
import { type Toolkit, writeState } from './steps.ts';
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
  | { readonly kind: 'REFUSED'; readonly reasons: readonly string[] };

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
  const { table } = toolkit;
  const state = (await readStates(table.store)).find(({ id }) => id === migration.id);
  const reason = objection(state);
  if (state === undefined || reason !== undefined) return { kind: 'REFUSED', reasons: [reason ?? ''] };
  const resumed = resumable(state);
  const begun = options.dryRun === true ? state : await begin(toolkit, state, options.segments);
  if (begun === undefined) {
    return { kind: 'REFUSED', reasons: ['Somebody else changed the state of the migration meanwhile.'] };
  }
  const run = createRun(toolkit, migration, begun, options);
  try {
    await walkAll(run);
  } catch (error) {
    if (error instanceof StoppedError) return { kind: 'REFUSED', reasons: [error.message] };
    throw error;
  } finally {
    // In an outage the heartbeat stays, and ends by itself.
    await run.view.stop().catch(() => undefined);
  }
  const { scanned, handled, failed } = totals(run);
  if (options.dryRun !== true && (await finish(toolkit, begun, failed)) === undefined) {
    return {
      kind: 'REFUSED',
      reasons: ['The state of the migration changed before the walk came to its end.'],
    };
  }
  return {
    kind: 'FINISHED',
    dryRun: options.dryRun ?? false,
    resumed: options.dryRun !== true && resumed,
    scanned,
    handled,
    left: failed,
    leftRecords: run.leftRecords,
  };
}

function objection(state: MigrationState | undefined): string | undefined {
  if (state === undefined) return 'It has not begun.';
  return ['backfill', 'verify', 'cleanup'].includes(state.phase)
    ? undefined
    : `A backfill runs in the phases backfill and verify, and in cleanup; this is ${state.phase}.`;
}

function resumable({ walk, version }: MigrationState): boolean {
  return walk?.version === version && walk.finishedAtMs === undefined;
}

/** Begins a walk, or gives the one that was broken off. What was verified before no longer counts. */
async function begin(
  toolkit: Toolkit,
  state: MigrationState,
  segments: number,
): Promise<MigrationState | undefined> {
  if (resumable(state)) return state;
  const walk: Walk = {
    walkId: toolkit.ids.token(),
    version: state.version,
    segments,
    by: toolkit.operator,
    startedAtMs: toolkit.clock.nowMs(),
    failed: 0,
  };
  return writeState(toolkit, state, withoutVerification({ ...state, walk }));
}

async function finish(
  toolkit: Toolkit,
  begun: MigrationState,
  failed: number,
): Promise<MigrationState | undefined> {
  const { walk } = begun;
  if (walk === undefined) return undefined;
  return writeState(toolkit, begun, {
    ...begun,
    walk: { ...walk, failed, finishedAtMs: toolkit.clock.nowMs() },
  });
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

function createRun(
  toolkit: Toolkit,
  migration: Migration,
  state: MigrationState,
  options: BackfillOptions,
): Run {
  const walk = options.dryRun === true ? undefined : state.walk;
  return {
    toolkit,
    migration,
    state,
    view: createMigrationView({ ...toolkit.table, ...toolkit }),
    walkId: walk?.walkId ?? 'dry run',
    segments: walk?.segments ?? options.segments,
    options,
    reached: new Map(),
    leftRecords: [],
  };
}

function totals({ reached }: Run): Progress {
  const all = [...reached.values()];
  const sum = (of: (checkpoint: Checkpoint) => number): number =>
    all.reduce((total, checkpoint) => total + of(checkpoint), 0);
  return {
    scanned: sum((one) => one.scanned),
    handled: sum((one) => one.handled),
    failed: sum((one) => one.failed),
  };
}

/** Rejects with what a segment threw, once every other has ended too: while one moves records the walk is of the fleet. */
async function walkAll(run: Run): Promise<void> {
  const segments = Array.from({ length: run.segments }, (_, segment) => walkSegment(run, segment));
  await Promise.allSettled(segments);
  await Promise.all(segments);
}

async function walkSegment(run: Run, segment: number): Promise<void> {
  const { toolkit, migration, state, walkId, segments, options, reached } = run;
  const { dryRun = false, pageSize = PAGE_SIZE, limiter, onProgress } = options;
  const { store } = toolkit.table;
  let checkpoint = dryRun ? fresh(walkId, 0) : await startingPoint(store, migration, walkId, segment);
  reached.set(segment, checkpoint);
  if (checkpoint.ended) return;
  const from = checkpoint.after;
  const start = from === undefined ? undefined : { uuid: { S: from.uuid }, type: { S: from.type } };
  for await (const { items, next } of pages(store, segment, segments, start, pageSize)) {
    let { handled, failed } = checkpoint;
    for (const item of items) {
      await limiter?.settle();
      const outcome = await handle(run, item);
      if (outcome.kind === 'DONE') handled += 1;
      if (outcome.kind !== 'LEFT') continue;
      failed += 1;
      if (run.leftRecords.length < MAX_LEFT_LISTED) {
        run.leftRecords.push({ record: readString(item, 'uuid'), reason: outcome.reason });
      }
    }
    checkpoint = {
      walkId,
      rev: checkpoint.rev,
      scanned: checkpoint.scanned + items.length,
      handled,
      failed,
      ended: next === undefined,
      ...(next === undefined
        ? {}
        : { after: { uuid: readString(next, 'uuid'), type: readString(next, 'type') } }),
    };
    if (!dryRun) checkpoint = await saveCheckpoint(toolkit, migration, state, segment, checkpoint);
    reached.set(segment, checkpoint);
    onProgress?.(totals(run));
  }
}

async function handle({ toolkit, migration, state, view, options }: Run, item: StoredItem): Promise<Handled> {
  if (readString(item, 'type') !== migration.shape.type) return { kind: 'NOTHING' };
  const removes = state.phase === 'cleanup';
  if (options.dryRun === true) return foresee(migration, item, removes);
  return view.act((acting, isCurrent) => {
    if (acting?.migration.id !== migration.id || acting.version !== state.version)
      throw new PhaseChangedError();
    const { store, transactor } = toolkit.table;
    const table: Table = {
      store,
      transactor: { commit: (plan) => transactor.commit(plan, { maySend: isCurrent }) },
    };
    const current = { ...toolkit, table };
    return removes ? removeRecord(current, migration, item) : moveRecord(current, migration, item);
  });
}
