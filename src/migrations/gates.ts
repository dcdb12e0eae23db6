import { COUNTS_FOR_MS, type Heartbeat } from './heartbeat.ts';
import type { Migration } from './migration.ts';
import { type Phase, phaseAfter, phaseBefore } from './phases.ts';
import type { MigrationState } from './state.ts';

export type Direction = 'FORWARD' | 'BACK';

/** What a step is judged by, read for the purpose. */
export interface Facts {
  readonly migration: Migration;
  /** Undefined: the migration hasn't begun on this table. */
  readonly state: MigrationState | undefined;
  /** Every migration of this table. */
  readonly states: readonly MigrationState[];
  readonly fleet: readonly Heartbeat[];
  readonly nowMs: number;
  /** Looked up only for the steps that ask: a key of an item in the new shape, of a record that has moved, of any. */
  readonly newItem?: string | undefined;
  readonly movedRecord?: string | undefined;
  readonly oldRecord?: string | undefined;
}

/** The phase a step leads to; the first one of a migration leads to `off`. Undefined: there is no such step. */
export function target({ state }: Pick<Facts, 'state'>, direction: Direction): Phase | undefined {
  if (state === undefined) return direction === 'FORWARD' ? 'off' : undefined;
  return direction === 'FORWARD' ? phaseAfter(state.phase) : phaseBefore(state.phase);
}

/** Whether a step needs to know of items in the new shape: while nothing has moved there may be none. */
export function asksForNewItems(to: Phase | undefined, direction: Direction): boolean {
  return direction === 'FORWARD' && (to === 'off' || to === 'expand');
}

/** Whether a step needs to know of records that have moved: `off` knows only the old shape. */
export function asksForMovedRecords(to: Phase | undefined, direction: Direction): boolean {
  return direction === 'BACK' && to === 'off';
}

/** Whether a step needs to know of records in the old shape: at the end none may be left. */
export function asksForOldRecords(to: Phase | undefined): boolean {
  return to === 'done';
}

/** Everything that speaks against a step; empty: it may be taken. Each is a sentence for the operator. */
export function objections(facts: Facts, direction: Direction): readonly string[] {
  const { state } = facts;
  const to = target(facts, direction);
  if (to === undefined) return [noStep(state, direction)];
  return [...fleetObjections(facts), ...(direction === 'BACK' ? backward(facts, to) : forward(facts, to))];
}

function noStep(state: MigrationState | undefined, direction: Direction): string {
  if (state === undefined) return 'It has not begun.';
  if (state.phase === 'done') return 'It is done.';
  if (direction === 'BACK' && state.phase !== 'off') {
    return `There is no way back from ${state.phase}: the old shape has gone stale.`;
  }
  return `There is nothing before ${state.phase}.`;
}

/** No step before every process acts on the phase of now: so a fleet is never in more than two neighbouring ones. */
function fleetObjections({ state, fleet }: Facts): readonly string[] {
  if (state === undefined) return [];
  const behind = fleet.filter(({ actsOn }) => actsOn?.id !== state.id || actsOn.version !== state.version);
  return behind.map(
    ({ process, actsOn }) =>
      `Process ${process} ${actsOn === undefined ? 'is still joining, or does not know this migration' : 'still acts on an earlier step'}.`,
  );
}

function backward({ movedRecord }: Facts, to: Phase): readonly string[] {
  if (to !== 'off' || movedRecord === undefined) return [];
  return [`Records have moved (${movedRecord} is one), and off knows only the old shape.`];
}

function forward(facts: Facts, to: Phase): readonly string[] {
  const { state, states, newItem, oldRecord, migration } = facts;
  switch (to) {
    case 'off': {
      const other = states.find(({ phase }) => phase !== 'done');
      return [
        ...(other === undefined ? [] : [`${other.id} is under way: one migration at a time.`]),
        ...newItemObjection(newItem),
      ];
    }
    case 'expand':
      return [...beginningObjection(facts), ...newItemObjection(newItem)];
    case 'backfill':
      return [];
    case 'verify':
      return walkObjections(migration, state, state?.version);
    case 'read-new':
      return [...walkObjections(migration, state), ...verificationObjections(migration, state)];
    case 'contract':
      return verificationObjections(migration, state);
    case 'cleanup':
      return [];
    case 'done':
      return [
        ...walkObjections(migration, state, state?.version),
        ...(oldRecord === undefined
          ? []
          : [`The old shape is still there (${oldRecord} is one): run "backfill ${migration.id}" again.`]),
      ];
  }
}

/** Who writes in no phase at all has no heartbeat: by then it has heard of the migration and joined, or sends no more. */
function beginningObjection({ state, nowMs }: Facts): readonly string[] {
  return state === undefined || state.sinceMs + COUNTS_FOR_MS <= nowMs
    ? []
    : [
        `A process that has not heard of it yet may still be writing: off lasts ${COUNTS_FOR_MS / 1_000} s at least.`,
      ];
}

function newItemObjection(newItem: string | undefined): readonly string[] {
  return newItem === undefined ? [] : [`The table already has items in the new shape (${newItem} is one).`];
}

/** Every record has been moved, or in `cleanup` removed, by a walk that came to its end. */
function walkObjections(
  { id }: Migration,
  state: MigrationState | undefined,
  version?: number,
): readonly string[] {
  const walk = state?.walk;
  if (walk === undefined || (version !== undefined && walk.version !== version))
    return [`Run "backfill ${id}" first.`];
  if (walk.finishedAtMs === undefined)
    return [`The backfill has not come to its end: run "backfill ${id}" to go on.`];
  return walk.failed === 0 ? [] : [`Records that the backfill had to leave: ${walk.failed}. Run it again.`];
}

/**
 * A comparison of every record that began in this very stay in the phase: after the last record moved, hence after the
 * last write to an old shape alone, since records that haven't moved are the only ones that are written so.
 */
function verificationObjections({ id }: Migration, state: MigrationState | undefined): readonly string[] {
  const found = state?.verification;
  if (found === undefined || found.version !== state?.version) {
    return [`Run "verify ${id}" in this phase first.`];
  }
  if (found.finishedAtMs === undefined)
    return [`The verify has not come to its end: run "verify ${id}" again.`];
  return [
    ...(found.unmoved === 0
      ? []
      : [
          `Records that have not moved: ${found.unmoved}. Run "backfill ${id}" again, in backfill or verify.`,
        ]),
    ...(found.differences === 0
      ? []
      : [`Differences: ${found.differences}. Run "verify ${id}" to see them.`]),
  ];
}
