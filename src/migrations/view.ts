import type { Clock } from '../ledger/kernel/clock.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import { plan } from '../ledger/items/plan.ts';
import { type Store, TableUnavailableError } from '../ledger/table/store.ts';
import type { Transactor } from '../ledger/table/transact.ts';
import { type Heartbeat, LEASE_MS, deleteHeartbeat, putHeartbeat } from './heartbeat.ts';
import type { Migration } from './migration.ts';
import type { Phase } from './phases.ts';
import { readStates } from './read-migrations.ts';
import { migrationOf } from './registry.ts';
import type { MigrationState } from './state.ts';

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

export interface ViewOptions {
  readonly store: Store;
  readonly transactor: Transactor;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Reads again this often, by a timer that keeps no process alive. Absent: only `refresh` does, and `act` when it must. */
  readonly pollMs?: number;
}

/** The production interval: a step is seen by the whole fleet within this and one reading. */
export const POLL_MS = 1_000;

/** Work that began under one state; when it is over its state may be told as left behind. */
interface Era {
  readonly state: MigrationState | undefined;
  running: number;
  readonly idle: (() => void)[];
}

/**
 * What a process knows of the migration under way, read when it is first needed. From that reading on the process is one
 * of the fleet: no step of the migration is taken past it.
 */
export function createMigrationView(options: ViewOptions): MigrationView {
  const reader = createReader(options);
  const timer =
    options.pollMs === undefined
      ? undefined
      : setInterval(() => {
          // An outage shows in `act`, which stops acting on what is too old.
          reader.refresh().catch(() => undefined);
        }, options.pollMs).unref();
  return {
    act: reader.act,
    refresh: reader.refresh,
    stop: async () => {
      clearInterval(timer);
      await reader.leave();
    },
  };
}

interface Reader extends Pick<MigrationView, 'act' | 'refresh'> {
  readonly leave: () => Promise<void>;
}

function createReader({ store, transactor, clock, ids }: ViewOptions): Reader {
  const process = ids.token();
  let era: Era = { state: undefined, running: 0, idle: [] };
  let readAtMs = -Infinity;
  let toldAtMs = -Infinity;
  let reading: Promise<void> | undefined;

  async function tell(heartbeat: Omit<Heartbeat, 'process'>): Promise<void> {
    const result = await transactor.commit(
      plan(ids.token(), { items: [putHeartbeat({ process, ...heartbeat })] }),
    );
    if (result.kind !== 'COMMITTED') throw new TableUnavailableError();
    toldAtMs = heartbeat.atMs;
  }

  async function readOnce(): Promise<void> {
    const atMs = clock.nowMs();
    let state = await underWay(store);
    if (state !== undefined && atMs - toldAtMs > LEASE_MS) {
      // Said before it is read for good: a step that doesn't see this process is then seen by it. Who was silent may have
      // ceased to count, and joins anew.
      await tell({ atMs });
      state = await underWay(store);
    }
    const before = era;
    if (before.state?.id !== state?.id || before.state?.version !== state?.version) {
      era = { state, running: 0, idle: [] };
      await drained(before);
    }
    if (state !== undefined) await tell({ atMs, ...actsOn(state) });
    readAtMs = atMs;
  }

  function refresh(): Promise<void> {
    reading ??= readOnce().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  const isCurrent = (): boolean => clock.nowMs() - readAtMs <= LEASE_MS;

  return {
    refresh,
    act: async (work) => {
      if (!isCurrent()) await refresh();
      const own = era;
      own.running += 1;
      try {
        return await work(actingOn(own.state), isCurrent);
      } finally {
        own.running -= 1;
        if (own.running === 0) for (const done of own.idle.splice(0)) done();
      }
    },
    leave: async () => {
      await reading?.catch(() => undefined);
      if (toldAtMs > -Infinity)
        await transactor.commit(plan(ids.token(), { items: [deleteHeartbeat(process)] }));
    },
  };
}

function drained(era: Era): Promise<void> {
  if (era.running === 0) return Promise.resolve();
  return new Promise((resolve) => {
    era.idle.push(resolve);
  });
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
