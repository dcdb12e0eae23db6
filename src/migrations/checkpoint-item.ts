import {
  type StoredItem,
  optionalMap,
  readBoolean,
  readInteger,
  readString,
  toAttribute,
  toAttributes,
} from '../ledger/kernel/attributes.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { integer } from '../ledger/kernel/integers.ts';
import { type ItemKey, systemKey } from '../ledger/kernel/keys.ts';
import type { PlannedItem } from '../ledger/items/plan.ts';
import { SYSTEM_NAME } from './state.ts';

/** How far a walk is in one segment. */
export interface Checkpoint {
  readonly walkId: string;
  /** Goes on after this item; absent at the beginning, and at the end. */
  readonly after?: ItemKey;
  readonly ended: boolean;
  readonly scanned: number;
  readonly handled: number;
  readonly failed: number;
  /** Raised by every write, which holds only over what its writer read: two runs can't both go on in a segment. */
  readonly rev: number;
}

export function checkpointKey(id: string, segment: number): ItemKey {
  return systemKey(SYSTEM_NAME, `CHECKPOINT#${id}#${segment}`);
}

export function readCheckpoint(item: StoredItem): Checkpoint {
  const after = optionalMap(item, 'after');
  return {
    walkId: readString(item, 'walk'),
    ended: readBoolean(item, 'ended'),
    scanned: readInteger(item, 'scanned'),
    handled: readInteger(item, 'handled'),
    failed: readInteger(item, 'failed'),
    rev: readInteger(item, 'rev'),
    ...defined({
      after: after === undefined ? undefined : { uuid: readString(after, 'u'), type: readString(after, 't') },
    }),
  };
}

/** Writes a checkpoint over the one read, `rev` 0 standing for none. */
export function putCheckpoint(id: string, segment: number, checkpoint: Checkpoint): PlannedItem {
  const { walkId, after, ended, scanned, handled, failed, rev } = checkpoint;
  return {
    role: 'other',
    item: {
      Put: {
        Item: toAttributes({
          ...checkpointKey(id, segment),
          walk: walkId,
          after: after === undefined ? undefined : { u: after.uuid, t: after.type },
          ended,
          scanned: integer(scanned),
          handled: integer(handled),
          failed: integer(failed),
          rev: integer(rev + 1),
        }),
        ConditionExpression: '(attribute_not_exists(#rev) AND :rev = :none) OR #rev = :rev',
        ExpressionAttributeNames: { '#rev': 'rev' },
        ExpressionAttributeValues: { ':rev': toAttribute(integer(rev)), ':none': { N: '0' } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  };
}
