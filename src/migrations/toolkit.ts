import { isDeepStrictEqual } from 'node:util';
import type { UnmovedRecords } from '../ledger/audit/audit.ts';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import { type PlannedItem, plan } from '../ledger/items/plan.ts';
import type { Store } from '../ledger/table/store.ts';
import type { CommitResult, Transactor } from '../ledger/table/transact.ts';
import { type Migration, hasMoved, isRecord } from './legacy-record.ts';
import { migrationOf } from './manifests.ts';
import { isAtLeast } from './phases.ts';
import { wholeRange } from './scan.ts';
import {
  COUNTS_FOR_MS,
  HEARTBEAT_PREFIX,
  type Heartbeat,
  type MigrationState,
  STATE_PREFIX,
  SYSTEM_PARTITION,
  putState,
  readHeartbeat,
  readState,
} from './state.ts';

/** What the ledger reads and writes with. */
export interface Table {
  readonly store: Store;
  readonly transactor: Transactor;
}

/** What steps, backfill and verify work with: the table itself, never one that follows migrations. */
export interface Toolkit {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Who does it, for the record. */
  readonly operator: string;
  /** Waits; an argument so that tests own time. */
  readonly wait: (ms: number) => Promise<void>;
}

/** What was asked for is not done; each reason is a sentence for the operator. */
export interface StepRefusal {
  readonly kind: 'REFUSED';
  readonly reasons: readonly string[];
}

export function stepRefusal(...reasons: readonly string[]): StepRefusal {
  return { kind: 'REFUSED', reasons };
}

/** The table was too busy to say: nothing is known to have changed, and the same may be tried again. */
export class UndecidedError extends Error {
  constructor() {
    super('the table was too busy; try again');
    this.name = 'UndecidedError';
  }
}

/** Every migration that was ever begun on this table. */
export async function readStates(store: Store): Promise<readonly MigrationState[]> {
  return (await wholeRange(store, SYSTEM_PARTITION, STATE_PREFIX)).map(readState);
}

/** Undefined: the migration hasn't begun on this table. */
export async function stateOf(
  store: Store,
  { id }: Pick<Migration, 'id'>,
): Promise<MigrationState | undefined> {
  return (await readStates(store)).find((state) => state.id === id);
}

/** The processes that may be acting on this table now. TTL removes those that were killed long ago. */
export async function readFleet(store: Store, nowMs: number): Promise<readonly Heartbeat[]> {
  const items = await wholeRange(store, SYSTEM_PARTITION, HEARTBEAT_PREFIX);
  return items.map(readHeartbeat).filter(({ atMs }) => atMs + COUNTS_FOR_MS > nowMs);
}

/** The records that an audit may not ask I2 of yet; undefined: no migration has any left. */
export async function unmovedRecords(store: Store): Promise<UnmovedRecords | undefined> {
  const state = (await readStates(store)).find(({ phase }) => !isAtLeast(phase, 'contract'));
  const migration = state === undefined ? undefined : migrationOf(state.id);
  if (migration === undefined) return undefined;
  return {
    type: migration.type,
    assets: Object.keys(migration.amounts),
    isUnmoved: (item) => isRecord(migration, item) && !hasMoved(migration, item),
  };
}

/**
 * Commits items that are written over what was read. An answer that got lost is looked up: `isWritten` says whether the
 * table holds them as they were to be.
 */
export async function commitOver(
  { table, ids }: Toolkit,
  items: readonly PlannedItem[],
  isWritten: () => Promise<boolean>,
): Promise<CommitResult['kind']> {
  const { kind } = await table.transactor.commit(plan(ids.token(), { items }));
  return kind === 'COMMITTED' || (await isWritten()) ? 'COMMITTED' : kind;
}

/**
 * Writes a state over the one that was read, and what goes with it. Undefined: somebody else was faster. Throws
 * UndecidedError where the table can't tell.
 */
export async function writeState(
  toolkit: Toolkit,
  before: MigrationState | undefined,
  after: MigrationState,
  beside: readonly PlannedItem[] = [],
): Promise<MigrationState | undefined> {
  const written = { ...after, rev: (before?.rev ?? 0) + 1 };
  const kind = await commitOver(toolkit, [putState(before, after), ...beside], async () =>
    isDeepStrictEqual(await stateOf(toolkit.table.store, after), written),
  );
  if (kind === 'THROTTLED' || kind === 'CONFLICT') throw new UndecidedError();
  return kind === 'COMMITTED' ? written : undefined;
}
