import { type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import { type Migration, hasMoved, isNewType, isRecord } from './legacy-record.ts';
import { type Phase, phaseAfter, phaseBefore } from './phases.ts';
import { findItem } from './scan.ts';
import { COUNTS_FOR_MS, type Heartbeat, type MigrationState, takePlace } from './state.ts';
import { type StepRefusal, type Toolkit, readFleet, readStates, stepRefusal, writeState } from './toolkit.ts';

export type Direction = 'FORWARD' | 'BACK';

export type MigrationStepResult =
  | { readonly kind: 'TAKEN'; readonly state: MigrationState }
  /** A dry run: nothing speaks against it. */
  | { readonly kind: 'READY'; readonly from: MigrationState | undefined; readonly to: string }
  | StepRefusal;

/**
 * Takes a migration one phase forward or back, if its gate is open. The first step forward begins it: the table holds
 * its records in the old shape, and none in the new one.
 */
export async function takeStep(
  toolkit: Toolkit,
  migration: Migration,
  direction: Direction,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<MigrationStepResult> {
  const { table, clock, operator } = toolkit;
  const states = await readStates(table.store);
  // After a reading, which brought the table's time: heartbeats are written in it.
  const nowMs = clock.nowMs();
  const state = states.find(({ id }) => id === migration.id);
  const fleet = await readFleet(table.store, nowMs);
  const find: StepChecks['find'] = (isWanted) => findItem(table.store, isWanted);
  const reasons = await objections({ migration, state, states, fleet, nowMs, find }, direction);
  const to = target(state, direction);
  if (to === undefined || reasons.length > 0) return stepRefusal(...reasons);
  if (dryRun) return { kind: 'READY', from: state, to };
  const after: MigrationState = {
    rev: 0,
    ...state,
    id: migration.id,
    phase: to,
    version: (state?.version ?? 0) + 1,
    sinceMs: clock.nowMs(),
    by: operator,
  };
  const done = states.filter(({ phase }) => phase === 'done').map(({ id }) => id);
  const begins = state === undefined ? [takePlace(migration.id, done)] : [];
  const written = await writeState(toolkit, state, after, begins);
  return written === undefined
    ? stepRefusal('Somebody else changed the state of a migration meanwhile: look again.')
    : { kind: 'TAKEN', state: written };
}

/** What a step is judged by, read for the purpose. */
export interface StepChecks {
  readonly migration: Migration;
  /** Undefined: the migration hasn't begun on this table. */
  readonly state: MigrationState | undefined;
  /** Every migration of this table. */
  readonly states: readonly MigrationState[];
  readonly fleet: readonly Heartbeat[];
  readonly nowMs: number;
  /** The key of some item of the table for which this holds; undefined: there is none. Reads the whole table. */
  readonly find: (isWanted: (item: StoredItem) => boolean) => Promise<string | undefined>;
}

type Gate = (checks: StepChecks) => readonly string[] | Promise<readonly string[]>;

/** What must hold before a step forward into a phase; each gate gives what speaks against it. */
const FORWARD_GATES: Readonly<Record<Phase, readonly Gate[]>> = {
  off: [isAlone, hasNoNewItems],
  expand: [hasBeenOffLongEnough, hasNoNewItems],
  backfill: [],
  verify: [wasWalkedInThisPhase],
  'read-new': [wasWalked, wasVerifiedInThisPhase],
  contract: [wasVerifiedInThisPhase],
  cleanup: [],
  done: [wasWalkedInThisPhase, hasNoOldRecords],
};

/** Everything that speaks against a step; empty: it may be taken. Each is a sentence for the operator. */
export async function objections(checks: StepChecks, direction: Direction): Promise<readonly string[]> {
  const to = target(checks.state, direction);
  if (to === undefined) return [noStep(checks.state, direction)];
  const backGates = to === 'off' ? [hasNoMovedRecords] : [];
  const gates: readonly Gate[] = [actsOnThisPhase, ...(direction === 'BACK' ? backGates : FORWARD_GATES[to])];
  const found: string[] = [];
  for (const gate of gates) found.push(...(await gate(checks)));
  return found;
}

/** The phase a step leads to; the first one of a migration leads to `off`. Undefined: there is no such step. */
function target(state: MigrationState | undefined, direction: Direction): Phase | undefined {
  if (state === undefined) return direction === 'FORWARD' ? 'off' : undefined;
  return direction === 'FORWARD' ? phaseAfter(state.phase) : phaseBefore(state.phase);
}

function noStep(state: MigrationState | undefined, direction: Direction): string {
  if (state === undefined) return 'It has not begun.';
  if (state.phase === 'done') return 'It is done.';
  if (direction === 'BACK' && state.phase !== 'off')
    return `There is no way back from ${state.phase}: the old shape has gone stale.`;
  return `There is nothing before ${state.phase}.`;
}

/** No step before every process acts on the phase of now: so a fleet is never in more than two neighbouring ones. */
function actsOnThisPhase({ state, fleet }: StepChecks): readonly string[] {
  if (state === undefined) return [];
  const behind = fleet.filter(({ actsOn }) => actsOn?.id !== state.id || actsOn.version !== state.version);
  return behind.map(
    ({ process, actsOn }) =>
      `Process ${process} ${actsOn === undefined ? 'is still joining, or does not know this migration' : 'still acts on an earlier step'}.`,
  );
}

function isAlone({ states }: StepChecks): readonly string[] {
  const other = states.find(({ phase }) => phase !== 'done');
  return other === undefined ? [] : [`${other.id} is under way: one migration at a time.`];
}

/** Who writes in no phase at all has no heartbeat: by then it has heard of the migration and joined, or sends no more. */
function hasBeenOffLongEnough({ state, nowMs }: StepChecks): readonly string[] {
  if (state === undefined || state.sinceMs + COUNTS_FOR_MS <= nowMs) return [];
  const atLeast = `off lasts ${COUNTS_FOR_MS / 1_000} s at least`;
  return [`A process that has not heard of it yet may still be writing: ${atLeast}.`];
}

/** While nothing has moved there may be no item in the new shape. */
async function hasNoNewItems({ migration, find }: StepChecks): Promise<readonly string[]> {
  const item = await find((one) => isNewType(migration, readString(one, 'type')));
  return item === undefined ? [] : [`The table already has items in the new shape (${item} is one).`];
}

/** `off` knows only the old shape. */
async function hasNoMovedRecords({ migration, find }: StepChecks): Promise<readonly string[]> {
  const record = await find((one) => isLegacy(migration, one) && hasMoved(migration, one));
  return record === undefined
    ? []
    : [`Records have moved (${record} is one), and off knows only the old shape.`];
}

async function hasNoOldRecords({ migration, find }: StepChecks): Promise<readonly string[]> {
  const record = await find((one) => isLegacy(migration, one) && isRecord(migration, one));
  if (record === undefined) return [];
  return [`The old shape is still there (${record} is one): run "backfill ${migration.id}" again.`];
}

function isLegacy({ type }: Migration, item: StoredItem): boolean {
  return readString(item, 'type') === type;
}

function wasWalkedInThisPhase(checks: StepChecks): readonly string[] {
  const { migration, state } = checks;
  return state?.walk?.version === state?.version
    ? wasWalked(checks)
    : [`Run "backfill ${migration.id}" first.`];
}

/** Every record has been moved, or in `cleanup` removed, by a walk that came to its end. */
function wasWalked({ migration: { id }, state }: StepChecks): readonly string[] {
  const walk = state?.walk;
  if (walk === undefined) return [`Run "backfill ${id}" first.`];
  if (walk.finishedAtMs === undefined)
    return [`The backfill has not come to its end: run "backfill ${id}" to go on.`];
  return walk.failed === 0 ? [] : [`Records that the backfill had to leave: ${walk.failed}. Run it again.`];
}

/**
 * A comparison of every record that began in this very stay in the phase: after the last record moved, hence after the
 * last write to an old shape alone, since records that haven't moved are the only ones that are written so.
 */
function wasVerifiedInThisPhase({ migration: { id }, state }: StepChecks): readonly string[] {
  const found = state?.verification;
  if (found === undefined || found.version !== state?.version)
    return [`Run "verify ${id}" in this phase first.`];
  if (found.finishedAtMs === undefined)
    return [`The verify has not come to its end: run "verify ${id}" again.`];
  const { unmoved, differences } = found;
  const again = `Run "backfill ${id}" again, in backfill or verify.`;
  return [
    ...(unmoved === 0 ? [] : [`Records that have not moved: ${unmoved}. ${again}`]),
    ...(differences === 0 ? [] : [`Differences: ${differences}. Run "verify ${id}" to see them.`]),
  ];
}
