import { isDeepStrictEqual } from 'node:util';
import { type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import { type PlannedItem, plan } from '../ledger/items/plan.ts';
import {
  type Direction,
  type Facts,
  asksForMovedRecords,
  asksForNewItems,
  asksForOldRecords,
  objections,
  target,
} from './gates.ts';
import { hasMoved, isRecord } from './legacy-record.ts';
import type { Table } from './migrating-table.ts';
import { type Migration, newTypes } from './migration.ts';
import { readFleet, readStates } from './read-migrations.ts';
import { findItem } from './scan.ts';
import { type MigrationState, putState, takePlace } from './state.ts';

/** What the toolkit works with: the table itself, never one that follows migrations. */
export interface Toolkit {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Who does it, for the record. */
  readonly operator: string;
  /** Waits; an argument so that tests own time. */
  readonly wait: (ms: number) => Promise<void>;
}

export type StepResult =
  | { readonly kind: 'TAKEN'; readonly state: MigrationState }
  /** A dry run: nothing speaks against it. */
  | { readonly kind: 'READY'; readonly from: MigrationState | undefined; readonly to: string }
  | { readonly kind: 'REFUSED'; readonly reasons: readonly string[] };

/**
 * Takes a migration one phase forward or back, if its gate is open. The first step forward begins it: the table holds
 * its records in the old shape, and none in the new one.
 */
export async function takeStep(
  toolkit: Toolkit,
  migration: Migration,
  direction: Direction,
  options: { readonly dryRun?: boolean } = {},
): Promise<StepResult> {
  const facts = await gather(toolkit, migration, direction);
  const reasons = objections(facts, direction);
  const to = target(facts, direction);
  if (to === undefined || reasons.length > 0) return { kind: 'REFUSED', reasons };
  const { state } = facts;
  if (options.dryRun === true) return { kind: 'READY', from: state, to };
  const { walk, verification } = state ?? {};
  const after: MigrationState = {
    id: migration.id,
    phase: to,
    version: (state?.version ?? 0) + 1,
    sinceMs: toolkit.clock.nowMs(),
    by: toolkit.operator,
    rev: state?.rev ?? 0,
    ...(walk === undefined ? {} : { walk }),
    ...(verification === undefined ? {} : { verification }),
  };
  const done = facts.states.filter(({ phase }) => phase === 'done').map(({ id }) => id);
  const begins = state === undefined ? [takePlace(migration.id, done)] : [];
  const written = await writeState(toolkit, state, after, begins);
  return written === undefined
    ? {
        kind: 'REFUSED',
        reasons: ['Somebody else changed the state of a migration meanwhile: look again.'],
      }
    : { kind: 'TAKEN', state: written };
}

async function gather({ table, clock }: Toolkit, migration: Migration, direction: Direction): Promise<Facts> {
  const states = await readStates(table.store);
  const state = states.find(({ id }) => id === migration.id);
  const to = target({ state }, direction);
  const types = new Set(newTypes(migration));
  const { store } = table;
  const { shape } = migration;
  const isOld = (item: StoredItem): boolean => readString(item, 'type') === shape.type;
  const nowMs = clock.nowMs();
  return {
    migration,
    state,
    states,
    fleet: await readFleet(table.store, nowMs),
    nowMs,
    newItem: asksForNewItems(to, direction)
      ? await findItem(store, (item) => types.has(readString(item, 'type')))
      : undefined,
    movedRecord: asksForMovedRecords(to, direction)
      ? await findItem(store, (item) => isOld(item) && hasMoved(shape, item))
      : undefined,
    oldRecord: asksForOldRecords(to)
      ? await findItem(store, (item) => isOld(item) && isRecord(shape, item))
      : undefined,
  };
}

/**
 * Writes a state over the one that was read, and what goes with it. Undefined: somebody else was faster. Throws where the
 * table can't tell.
 */
export async function writeState(
  { table, ids }: Toolkit,
  before: MigrationState | undefined,
  after: MigrationState,
  beside: readonly PlannedItem[] = [],
): Promise<MigrationState | undefined> {
  const items = [putState(before, after), ...beside];
  const result = await table.transactor.commit(plan(ids.token(), { items }));
  const rev = (before?.rev ?? 0) + 1;
  if (result.kind === 'COMMITTED') return { ...after, rev };
  if (result.kind === 'THROTTLED' || result.kind === 'CONFLICT') throw new UndecidedError();
  // After a lost answer it may have been us.
  const now = (await readStates(table.store)).find(({ id }) => id === after.id);
  return isDeepStrictEqual(now, { ...after, rev }) ? now : undefined;
}

/** The table was too busy to say: nothing is known to have changed, and the same may be tried again. */
export class UndecidedError extends Error {
  constructor() {
    super('the table was too busy; try again');
    this.name = 'UndecidedError';
  }
}
