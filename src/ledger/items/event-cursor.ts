import { type StoredItem, optionalInteger, readInteger, toAttributes } from '../kernel/attributes.ts';
import { defined } from '../kernel/defined.ts';
import { integer } from '../kernel/integers.ts';
import { systemKey } from '../kernel/keys.ts';
import type { PlanPart } from './plan.ts';

/** How far the provider's events have been looked through, and until when somebody else does or nobody needs to. */
export interface EventCursor {
  /** Events of this second and later haven't all been looked at. */
  readonly fromS: number;
  /** Since when events that can't be applied keep it back. */
  readonly heldSinceS?: number;
  /** Whoever looks through them holds this as a lease; afterwards it is the pause until the next time. */
  readonly notBeforeMs: number;
  /** Raised by every write; every write conditions on it. */
  readonly rev: number;
}

/** The cursor trails this far behind now, so that what is listed late isn't missed (docs/DESIGN.md §8). */
const TRAIL_S = 3_600;
/** Two processes may read the table's time so differently. */
const UNCERTAIN_S = 60;
/** An event that can't be applied is tried for so long at least, and for twice as long at most. */
const HOLD_S = 6 * 3_600;

/** A cursor that can't be true goes back this far: whoever wrote it may have passed over as much. */
const RECALL_S = 24 * 3_600;

/** How far a cursor has come. */
export type CursorPlace = Pick<EventCursor, 'fromS' | 'heldSinceS'>;

/**
 * Events made before this second hold the cursor no more: if one can't be applied now, the cursor goes on without it,
 * and nobody looks at it again by itself. Undefined while every event still has its hours.
 */
export function giveUpBeforeS({ heldSinceS }: CursorPlace, startS: number): number | undefined {
  return heldSinceS === undefined || startS - heldSinceS < HOLD_S ? undefined : heldSinceS - TRAIL_S;
}

/**
 * Where the next look begins. Events that couldn't be applied are listed again and hold the cursor back, but for some hours
 * only. After that the cursor goes on without the ones that held it first.
 * @param leftS when the events that it left were made
 */
export function nextPlace(place: CursorPlace, leftS: readonly number[], startS: number): CursorPlace {
  const { fromS, heldSinceS = startS } = place;
  const trailS = startS - TRAIL_S;
  const giveUpS = giveUpBeforeS(place, startS);
  const heldS = giveUpS === undefined ? leftS : leftS.filter((madeS) => madeS >= giveUpS);
  const nextS = Math.max(fromS, Math.min(trailS, ...heldS));
  if (nextS >= trailS) return { fromS: nextS };
  return { fromS: nextS, heldSinceS: giveUpS === undefined ? heldSinceS : startS };
}

/**
 * The cursor, if it can be true. It always trails, so one that doesn't was written by a process whose clock was ahead: it
 * goes back by a day, and its wait is over. So is a wait that nobody would have set.
 */
export function credibleCursor(read: EventCursor, nowMs: number, longestWaitMs: number): EventCursor {
  const nowS = Math.floor(nowMs / 1000);
  const notBeforeMs = read.notBeforeMs > nowMs + longestWaitMs ? 0 : read.notBeforeMs;
  return read.fromS > nowS - TRAIL_S + UNCERTAIN_S
    ? { rev: read.rev, fromS: nowS - RECALL_S, notBeforeMs: 0 }
    : { ...read, notBeforeMs };
}

export const EVENT_CURSOR_KEY = systemKey('stripe-events', 'CURSOR');

/** Reads the cursor item. Throws MalformedItemError. */
export function readEventCursor(item: StoredItem): EventCursor {
  return {
    fromS: readInteger(item, 'from_s'),
    notBeforeMs: readInteger(item, 'not_before'),
    rev: readInteger(item, 'rev'),
    ...defined({ heldSinceS: optionalInteger(item, 'held_since') }),
  };
}

/** Writes the cursor on the condition that it is still as it was read. */
export function putEventCursor(before: EventCursor | undefined, after: EventCursor): PlanPart {
  const condition =
    before === undefined
      ? { ConditionExpression: 'attribute_not_exists(#uuid)', ExpressionAttributeNames: { '#uuid': 'uuid' } }
      : {
          ConditionExpression: '#rev = :before',
          ExpressionAttributeNames: { '#rev': 'rev' },
          ExpressionAttributeValues: { ':before': { N: String(before.rev) } },
        };
  return {
    items: [
      {
        role: 'other',
        item: {
          Put: {
            Item: toAttributes({
              ...EVENT_CURSOR_KEY,
              from_s: integer(after.fromS),
              held_since: after.heldSinceS === undefined ? undefined : integer(after.heldSinceS),
              not_before: integer(after.notBeforeMs),
              rev: integer(after.rev),
            }),
            ...condition,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      },
    ],
  };
}
