import {
  type StoredItem,
  optionalInteger,
  optionalString,
  readInteger,
  readString,
  toAttributes,
} from '../ledger/kernel/attributes.ts';
import { epochS } from '../ledger/kernel/clock.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { integer } from '../ledger/kernel/integers.ts';
import { systemKey } from '../ledger/kernel/keys.ts';
import type { PlannedItem } from '../ledger/items/plan.ts';
import { SYSTEM_NAME } from './state.ts';

/** What a process says of itself: which step of which migration it acts on, and nothing older. */
export interface Heartbeat {
  readonly process: string;
  readonly atMs: number;
  /** Absent while it joins, and hasn't read a state yet; also where its release doesn't know the migration. */
  readonly actsOn?: { readonly id: string; readonly version: number };
}

export const HEARTBEAT_PREFIX = 'PROCESS#';

/**
 * How long a process acts on what it read without reading and telling again: past it, it refuses to touch the table.
 * What it began before may still be on its way for as long as the executor retries, so it counts for longer.
 */
export const LEASE_MS = 5_000;
export const COUNTS_FOR_MS = 60_000;

export function isLiveHeartbeat({ atMs }: Heartbeat, nowMs: number): boolean {
  return atMs + COUNTS_FOR_MS > nowMs;
}

export function readHeartbeat(item: StoredItem): Heartbeat {
  const id = optionalString(item, 'migration');
  const version = optionalInteger(item, 'version');
  return {
    process: readString(item, 'type').slice(HEARTBEAT_PREFIX.length),
    atMs: readInteger(item, 'at'),
    ...defined({ actsOn: id === undefined || version === undefined ? undefined : { id, version } }),
  };
}

export function putHeartbeat({ process, atMs, actsOn }: Heartbeat): PlannedItem {
  const Item = toAttributes({
    ...systemKey(SYSTEM_NAME, `${HEARTBEAT_PREFIX}${process}`),
    at: integer(atMs),
    ...(actsOn === undefined ? {} : { migration: actsOn.id, version: integer(actsOn.version) }),
    ttl: integer(epochS(atMs) + 3_600),
  });
  return { role: 'other', item: { Put: { Item } } };
}

export function deleteHeartbeat(process: string): PlannedItem {
  const Key = toAttributes({ ...systemKey(SYSTEM_NAME, `${HEARTBEAT_PREFIX}${process}`) });
  return { role: 'other', item: { Delete: { Key } } };
}
