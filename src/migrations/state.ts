import {
  type StoredItem,
  optionalInteger,
  optionalMap,
  readInteger,
  readOneOf,
  readString,
  toAttribute,
  toAttributes,
} from '../ledger/kernel/attributes.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { integer } from '../ledger/kernel/integers.ts';
import { type ItemKey, systemKey } from '../ledger/kernel/keys.ts';
import type { PlannedItem } from '../ledger/items/plan.ts';
import { PHASES, type Phase } from './phases.ts';

/** A walk through the table: moving records, or in `cleanup` removing their old shape. */
export interface Walk {
  /** Tells this walk's checkpoints from those of an earlier one. */
  readonly walkId: string;
  /** The state's version when it began: whether it began in the phase of now. */
  readonly version: number;
  readonly segments: number;
  readonly by: string;
  readonly startedAtMs: number;
  /** Absent while it runs, or when it was killed. */
  readonly finishedAtMs?: number;
  /** Records that it had to leave; known at its end. */
  readonly failed: number;
}

/** A comparison of both shapes of every record. */
export interface Verification {
  readonly version: number;
  readonly by: string;
  readonly startedAtMs: number;
  readonly finishedAtMs?: number;
  readonly records: number;
  readonly unmoved: number;
  readonly differences: number;
}

/** Where a migration stands: one item, changed by condition on `rev`. */
export interface MigrationState {
  readonly id: string;
  readonly phase: Phase;
  /** Raised by every step: what a process tells that it acts on. */
  readonly version: number;
  readonly sinceMs: number;
  readonly by: string;
  readonly rev: number;
  readonly walk?: Walk;
  readonly verification?: Verification;
}

export const STATE_PREFIX = 'STATE#';
export const SYSTEM_NAME = 'migration';

export function stateKey(id: string): ItemKey {
  return systemKey(SYSTEM_NAME, `${STATE_PREFIX}${id}`);
}

export function readState(item: StoredItem): MigrationState {
  const walk = optionalMap(item, 'walk');
  const verification = optionalMap(item, 'verification');
  return {
    id: readString(item, 'type').slice(STATE_PREFIX.length),
    phase: readOneOf(item, 'phase', PHASES),
    version: readInteger(item, 'version'),
    sinceMs: readInteger(item, 'since'),
    by: readString(item, 'by'),
    rev: readInteger(item, 'rev'),
    ...defined({
      walk: walk === undefined ? undefined : readWalk(walk),
      verification: verification === undefined ? undefined : readVerification(verification),
    }),
  };
}

/** What was verified before no longer counts once records move. */
export function withoutVerification(state: MigrationState): MigrationState {
  const kept: { -readonly [Name in keyof MigrationState]: MigrationState[Name] } = { ...state };
  delete kept.verification;
  return kept;
}

function readWalk(item: StoredItem): Walk {
  return {
    walkId: readString(item, 'id'),
    version: readInteger(item, 'version'),
    segments: readInteger(item, 'segments'),
    by: readString(item, 'by'),
    startedAtMs: readInteger(item, 'started'),
    failed: readInteger(item, 'failed'),
    ...defined({ finishedAtMs: optionalInteger(item, 'finished') }),
  };
}

function readVerification(item: StoredItem): Verification {
  return {
    version: readInteger(item, 'version'),
    by: readString(item, 'by'),
    startedAtMs: readInteger(item, 'started'),
    records: readInteger(item, 'records'),
    unmoved: readInteger(item, 'unmoved'),
    differences: readInteger(item, 'differences'),
    ...defined({ finishedAtMs: optionalInteger(item, 'finished') }),
  };
}

/** There is at most one: whose place in the table it is to be under way. */
const UNDER_WAY = systemKey(SYSTEM_NAME, 'UNDER_WAY');

/** Takes the one place that there is, from nobody or from a migration that is done: two that judged at one moment can't both. */
export function takePlace(id: string, done: readonly string[]): PlannedItem {
  const holders = done.map((holder, index) => [`:done${index}`, toAttribute(holder)] as const);
  return {
    role: 'other',
    item: {
      Put: {
        Item: toAttributes({ ...UNDER_WAY, migration: id }),
        ConditionExpression: [
          'attribute_not_exists(#uuid)',
          ...holders.map(([name]) => `#migration = ${name}`),
        ].join(' OR '),
        ExpressionAttributeNames: {
          '#uuid': 'uuid',
          ...(holders.length > 0 ? { '#migration': 'migration' } : {}),
        },
        ...(holders.length > 0 ? { ExpressionAttributeValues: Object.fromEntries(holders) } : {}),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  };
}

/** Writes a state over the one that was read, or for the first time: `before` is undefined. Raises `rev`. */
export function putState(before: MigrationState | undefined, after: MigrationState): PlannedItem {
  const { walk, verification } = after;
  const Item = toAttributes({
    ...stateKey(after.id),
    phase: after.phase,
    version: integer(after.version),
    since: integer(after.sinceMs),
    by: after.by,
    rev: integer(1 + (before?.rev ?? 0)),
    walk:
      walk === undefined
        ? undefined
        : {
            id: walk.walkId,
            version: integer(walk.version),
            segments: integer(walk.segments),
            by: walk.by,
            started: integer(walk.startedAtMs),
            finished: walk.finishedAtMs === undefined ? undefined : integer(walk.finishedAtMs),
            failed: integer(walk.failed),
          },
    verification:
      verification === undefined
        ? undefined
        : {
            version: integer(verification.version),
            by: verification.by,
            started: integer(verification.startedAtMs),
            finished:
              verification.finishedAtMs === undefined ? undefined : integer(verification.finishedAtMs),
            records: integer(verification.records),
            unmoved: integer(verification.unmoved),
            differences: integer(verification.differences),
          },
  });
  const condition =
    before === undefined
      ? { ConditionExpression: 'attribute_not_exists(#uuid)', ExpressionAttributeNames: { '#uuid': 'uuid' } }
      : {
          ConditionExpression: '#rev = :rev',
          ExpressionAttributeNames: { '#rev': 'rev' },
          ExpressionAttributeValues: { ':rev': toAttribute(integer(before.rev)) },
        };
  return {
    role: 'other',
    item: { Put: { Item, ...condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
  };
}
