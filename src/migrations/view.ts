import type { Clock } from '../ledger/kernel/clock.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import { type PlannedItem, plan } from '../ledger/items/plan.ts';
import { type Store, TableUnavailableError } from '../ledger/table/store.ts';
import type { CommitResult } from '../ledger/table/transact.ts';
import type { Migration } from './legacy-record.ts';
import { migrationOf } from './manifests.ts';
import type { Phase } from './phases.ts';
import { type Heartbeat, LEASE_MS, type MigrationState, deleteHeartbeat, putHeartbeat } from './state.ts';
import { type Table, readStates } from './toolkit.ts';

/** The migration that is under way and the phase in which this process acts. */
export interface Acting {
  readonly migration: Migration;
  readonly phase: Phase;
  /** The state's: of which step of it this process knows. */
  readonly version: number;
}

/** What one process knows of the migration under way. */
export interface MigrationView {
  /**
   * Does work in the phase of now; undefined: no migration is under way. Throws TableUnavailableError where the phase
   * could not be read lately: nothing is written in a phase that may be long gone. `isCurrent` says so at any later
   * moment: work that takes its time asks before it sends anything.
   */
  readonly act: <Value>(
    work: (acting: Acting | undefined, isCurrent: () => boolean) => Promise<Value>,
  ) => Promise<Value>;
  /** Reads the phase again, and tells it once no work of an older one is left. */
  readonly refresh: () => Promise<void>;
  /** Ends the reading and withdraws the heartbeat. The work that runs must be over. */
  readonly stop: () => Promise<void>;
}

export interface ViewOptions extends Table {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Reads again this often, by a timer that keeps no process alive. Absent: only `refresh` does, and `act` when it must. */
  readonly pollMs?: number;
}

/** The production interval: a step is seen by the whole fleet within this and one reading. */
export const POLL_MS = 1_000;

/** What was read of the migration under way, and the work that began under it: until that is over the epoch lasts. */
interface PhaseEpoch {
  readonly state: MigrationState | undefined;
  readonly running: Set<Promise<unknown>>;
}

/**
 * What a process knows of the migration under way, read when it is first needed. From that reading on the process is one
 * of the fleet: no step of the migration is taken past it.
 */
export function createMigrationView(options: ViewOptions): MigrationView {
  const { store, clock, pollMs } = options;
  const heartbeat = createHeartbeat(options);
  let epoch: PhaseEpoch = { state: undefined, running: new Set() };
  let readAtMs = -Infinity;
  let reading: Promise<void> | undefined;

  async function readOnce(): Promise<void> {
    let atMs = clock.nowMs();
    let state = await underWay(store);
    if (state !== undefined && heartbeat.isSilent(atMs)) {
      // Said before it is read for good: a step that doesn't see this process is then seen by it. Who was silent may have
      // ceased to count, and joins anew. With the first reading came the table's time.
      atMs = clock.nowMs();
      await heartbeat.tell({ atMs });
      state = await underWay(store);
    }
    const before = epoch;
    if (before.state?.id !== state?.id || before.state?.version !== state?.version) {
      epoch = { state, running: new Set() };
      await Promise.allSettled(before.running);
    }
    if (state !== undefined) await heartbeat.tell({ atMs, ...actsOn(state) });
    readAtMs = atMs;
  }

  function refresh(): Promise<void> {
    reading ??= readOnce().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  // An outage shows in `act`, which stops acting on what is too old.
  const poll = (): void => void refresh().catch(() => undefined);
  const timer = pollMs === undefined ? undefined : setInterval(poll, pollMs).unref();
  // Also where the clock was set back meanwhile: then how old the reading is isn't known.
  const isCurrent = (): boolean => Math.abs(clock.nowMs() - readAtMs) <= LEASE_MS;

  return {
    refresh,
    act: async (work) => {
      if (!isCurrent()) await refresh();
      const { state, running } = epoch;
      const done = work(actingOn(state), isCurrent);
      running.add(done);
      try {
        return await done;
      } finally {
        running.delete(done);
      }
    },
    stop: async () => {
      clearInterval(timer);
      await reading?.catch(() => undefined);
      await heartbeat.withdraw();
    },
  };
}

interface OwnHeartbeat {
  /** Whether nothing was told for so long that a step may have been taken past this process. */
  readonly isSilent: (nowMs: number) => boolean;
  /** Throws TableUnavailableError where it isn't known to be written: a process that can't tell doesn't act. */
  readonly tell: (heartbeat: Omit<Heartbeat, 'process'>) => Promise<void>;
  readonly withdraw: () => Promise<void>;
}

function createHeartbeat({ transactor, ids }: ViewOptions): OwnHeartbeat {
  const process = ids.token();
  let heardAtMs = -Infinity;
  const commit = (item: PlannedItem): Promise<CommitResult> =>
    transactor.commit(plan(ids.token(), { items: [item] }));
  return {
    isSilent: (nowMs) => Math.abs(nowMs - heardAtMs) > LEASE_MS,
    tell: async (heartbeat) => {
      const { kind } = await commit(putHeartbeat({ process, ...heartbeat }));
      if (kind !== 'COMMITTED') throw new TableUnavailableError();
      heardAtMs = heartbeat.atMs;
    },
    withdraw: async () => {
      if (heardAtMs > -Infinity) await commit(deleteHeartbeat(process));
    },
  };
}

/** As what a process acts; undefined: no migration is under way, or none that this release knows. */
export function actingOn(state: MigrationState | undefined): Acting | undefined {
  const migration = state === undefined ? undefined : migrationOf(state.id);
  if (state === undefined || migration === undefined) return undefined;
  return { migration, phase: state.phase, version: state.version };
}

/** A release that doesn't know the migration can't act on it, and must not say that it does. */
function actsOn({ id, version }: MigrationState): Pick<Heartbeat, 'actsOn'> {
  return migrationOf(id) === undefined ? {} : { actsOn: { id, version } };
}

/** The one migration that has begun and isn't done. */
export async function underWay(store: Store): Promise<MigrationState | undefined> {
  return (await readStates(store)).find(({ phase }) => phase !== 'done');
}
