import { type StoredItem, readInteger, toAttributes } from '../attributes.ts';
import { integer } from '../integers.ts';
import { systemKey } from '../keys.ts';
import type { PlanPart } from '../plan.ts';

/** How far the provider's events have been looked through, and until when somebody else does or nobody needs to. */
export interface EventCursor {
  /** Events of this second and later haven't all been looked at. */
  readonly fromS: number;
  /** Whoever looks through them holds this as a lease; afterwards it is the pause until the next time. */
  readonly notBeforeMs: number;
  /** Raised by every write; every write conditions on it. */
  readonly rev: number;
}

export const EVENT_CURSOR_KEY = systemKey('stripe-events', 'CURSOR');

/** Reads the cursor item. Throws MalformedItemError. */
export function readEventCursor(item: StoredItem): EventCursor {
  return {
    fromS: readInteger(item, 'from_s'),
    notBeforeMs: readInteger(item, 'not_before'),
    rev: readInteger(item, 'rev'),
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
