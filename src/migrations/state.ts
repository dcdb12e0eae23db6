import {
  type AttributeInput,
  type StoredItem,
  optionalInteger,
  optionalMap,
  optionalString,
  readInteger,
  readOneOf,
  readString,
  toAttribute,
  toAttributes,
} from '../ledger/kernel/attributes.ts';
import { epochS } from '../ledger/kernel/clock.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { type Integer, integer } from '../ledger/kernel/integers.ts';
import { type ItemKey, systemKey } from '../ledger/kernel/keys.ts';
import type { PlannedItem } from '../ledger/items/plan.ts';
import { PHASES, type Phase } from './phases.ts';

/*
 * The items of the partition `system#migration`: states, heartbeats, and which migration is under way. Checkpoints are
 * in checkpoints.ts.
 */

export const SYSTEM_NAME = 'migration';
export const SYSTEM_PARTITION = systemKey(SYSTEM_NAME, '').uuid;
export const STATE_PREFIX = 'STATE#';
export const HEARTBEAT_PREFIX = 'PROCESS#';

/** Something that an operator ran over the whole table. */
interface TableRun {
  /** The state's version when it began: whether it began in the phase of now. */
  readonly version: number;
  readonly by: string;
  readonly startedAtMs: number;
  /** Absent while it runs, or when it was killed. */
  readonly finishedAtMs?: number;
}

/** A walk through the table: moving records, or in `cleanup` removing their old shape. */
export interface Walk extends TableRun {
  /** Tells this walk's checkpoints from those of an earlier one. */
  readonly walkId: string;
  readonly segments: number;
  /** Records that it had to leave; known at its end. */
  readonly failed: number;
}

/** A comparison of both shapes of every record. */
export interface Verification extends TableRun {
  readonly records: number;
  readonly unmoved: number;
  readonly differences: number;
}

/** Where a migration stands. */
export interface MigrationState {
  readonly id: string;
  readonly phase: Phase;
  /** Raised by every step: what a process tells that it acts on. */
  readonly version: number;
  readonly sinceMs: number;
  readonly by: string;
  /** Raised by every write, which holds only over what its writer read. */
  readonly rev: number;
  readonly walk?: Walk;
  readonly verification?: Verification;
}

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
    ...(walk === undefined ? {} : { walk: readWalk(walk) }),
    ...(verification === undefined ? {} : { verification: readVerification(verification) }),
  };
}

function readWalk(item: StoredItem): Walk {
  return {
    ...readRun(item),
    walkId: readString(item, 'id'),
    segments: readInteger(item, 'segments'),
    failed: readInteger(item, 'failed'),
  };
}

function readVerification(item: StoredItem): Verification {
  return {
    ...readRun(item),
    records: readInteger(item, 'records'),
    unmoved: readInteger(item, 'unmoved'),
    differences: readInteger(item, 'differences'),
  };
}

function readRun(item: StoredItem): TableRun {
  return {
    version: readInteger(item, 'version'),
    by: readString(item, 'by'),
    startedAtMs: readInteger(item, 'started'),
    ...defined({ finishedAtMs: optionalInteger(item, 'finished') }),
  };
}

/** Writes a state over the one that was read, or for the first time: `before` is undefined. */
export function putState(before: MigrationState | undefined, after: MigrationState): PlannedItem {
  const { walk, verification } = after;
  return putOver(stateKey(after.id), before?.rev ?? 0, {
    phase: after.phase,
    by: after.by,
    ...integers({ version: after.version, since: after.sinceMs }),
    walk:
      walk === undefined
        ? undefined
        : {
            ...storedRun(walk),
            id: walk.walkId,
            ...integers({ segments: walk.segments, failed: walk.failed }),
          },
    verification: verification === undefined ? undefined : storedVerification(verification),
  });
}

function storedVerification(verification: Verification): Record<string, AttributeInput | undefined> {
  const { records, unmoved, differences } = verification;
  return { ...storedRun(verification), ...integers({ records, unmoved, differences }) };
}

function storedRun({
  by,
  version,
  startedAtMs,
  finishedAtMs,
}: TableRun): Record<string, AttributeInput | undefined> {
  return { by, ...integers({ version, started: startedAtMs, finished: finishedAtMs }) };
}

export function integers(
  values: Readonly<Record<string, number | undefined>>,
): Record<string, Integer | undefined> {
  const branded: Record<string, Integer | undefined> = {};
  for (const [name, value] of Object.entries(values)) {
    branded[name] = value === undefined ? undefined : integer(value);
  }
  return branded;
}

/** Puts an item over the one that was read, `rev` 0 standing for none: of two writers who read the same one is refused. */
export function putOver(
  key: ItemKey,
  rev: number,
  attributes: Readonly<Record<string, AttributeInput | undefined>>,
): PlannedItem {
  return {
    role: 'other',
    item: {
      Put: {
        Item: toAttributes({ ...key, ...attributes, rev: integer(rev + 1) }),
        ConditionExpression: '(attribute_not_exists(#rev) AND :rev = :none) OR #rev = :rev',
        ExpressionAttributeNames: { '#rev': 'rev' },
        ExpressionAttributeValues: { ':rev': toAttribute(integer(rev)), ':none': { N: '0' } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  };
}

/**
 * Makes a migration the one that is under way. The table has one place for it, which is free or held by one that is done:
 * of two operators who begin at one moment one is refused.
 */
export function takePlace(id: string, done: readonly string[]): PlannedItem {
  // No migration's id is empty: this one keeps the list from being so.
  const holders = Object.fromEntries(
    ['', ...done].map((holder, index) => [`:holder${index}`, { S: holder }]),
  );
  return {
    role: 'other',
    item: {
      Put: {
        Item: toAttributes({ ...systemKey(SYSTEM_NAME, 'UNDER_WAY'), migration: id }),
        ConditionExpression: `attribute_not_exists(#uuid) OR #migration IN (${Object.keys(holders).join(', ')})`,
        ExpressionAttributeNames: { '#uuid': 'uuid', '#migration': 'migration' },
        ExpressionAttributeValues: holders,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  };
}

/** What a process says of itself: which step of which migration it acts on, and nothing older. */
export interface Heartbeat {
  readonly process: string;
  readonly atMs: number;
  /** Absent while it joins, and hasn't read a state yet; also where its release doesn't know the migration. */
  readonly actsOn?: { readonly id: string; readonly version: number };
}

/**
 * How long a process acts on what it read without reading and telling again: past it, it refuses to touch the table.
 * What it began before may still be on its way for as long as the executor retries, so it counts for longer.
 */
export const LEASE_MS = 5_000;
export const COUNTS_FOR_MS = 60_000;

const HEARTBEAT_TTL_S = 3_600;

export function readHeartbeat(item: StoredItem): Heartbeat {
  const id = optionalString(item, 'migration');
  const version = optionalInteger(item, 'version');
  return {
    process: readString(item, 'type').slice(HEARTBEAT_PREFIX.length),
    atMs: readInteger(item, 'at'),
    ...(id === undefined || version === undefined ? {} : { actsOn: { id, version } }),
  };
}

export function putHeartbeat({ process, atMs, actsOn }: Heartbeat): PlannedItem {
  const Item = toAttributes({
    ...heartbeatKey(process),
    migration: actsOn?.id,
    ...integers({ at: atMs, version: actsOn?.version, ttl: epochS(atMs) + HEARTBEAT_TTL_S }),
  });
  return { role: 'other', item: { Put: { Item } } };
}

export function deleteHeartbeat(process: string): PlannedItem {
  return { role: 'other', item: { Delete: { Key: toAttributes({ ...heartbeatKey(process) }) } } };
}

function heartbeatKey(process: string): ItemKey {
  return systemKey(SYSTEM_NAME, `${HEARTBEAT_PREFIX}${process}`);
}
