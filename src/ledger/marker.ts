import {
  type StoredItem,
  optionalMap,
  optionalString,
  readInteger,
  readOneOf,
  readString,
  toAttributes,
} from './attributes.ts';
import { defined } from './defined.ts';
import { integer } from './integers.ts';
import { type MarkerRef, markerKey } from './keys.ts';
import { type Stored, readStored, storedAttributes } from './outcomes.ts';
import type { PlanPart, TransactItem } from './plan.ts';

/** A marker lives this long; after it a key is new again (docs/DESIGN.md §5.8). */
export const MARKER_LIFE_S = 90 * 86_400;

/** The idempotency record of one request. */
export interface Marker {
  readonly status: 'PROCESSING' | 'COMPLETED' | 'FAILED';
  readonly fingerprint: string;
  /** The transaction that wrote it: how a lost answer is recognised as our own commit. */
  readonly transactionId: string;
  /** Frozen once there is one: of a PROCESSING marker it is absent. */
  readonly outcome?: Stored;
  /** PROCESSING: the order whose claim it waits for, and of a refund's claim which refund. */
  readonly claimOf?: { readonly accountId: string; readonly orderId: string; readonly refundId?: string };
  readonly processedAtMs: number;
  readonly ttlS: number;
}

/** Whether a marker still counts. TTL deletion is late by days, so every reader compares. */
export function isLive(marker: Pick<Marker, 'ttlS'>, nowS: number): boolean {
  return marker.ttlS >= nowS;
}

export function readMarker(item: StoredItem): Marker {
  const outcome = optionalMap(item, 'outcome');
  const claimOf = optionalMap(item, 'claim_of');
  return {
    status: readOneOf(item, 'status', ['PROCESSING', 'COMPLETED', 'FAILED']),
    fingerprint: readString(item, 'fingerprint'),
    transactionId: readString(item, 'tx'),
    processedAtMs: readInteger(item, 'processed_at'),
    ttlS: readInteger(item, 'ttl'),
    ...defined({
      outcome: outcome === undefined ? undefined : readStored(outcome),
      claimOf:
        claimOf === undefined
          ? undefined
          : {
              accountId: readString(claimOf, 'a'),
              orderId: readString(claimOf, 'o'),
              ...defined({ refundId: optionalString(claimOf, 'r') }),
            },
    }),
  };
}

/** The marker is item 0 of its transaction; the condition lets an expired one that is still there be overwritten. */
export function putMarkerIfNew(ref: MarkerRef, marker: Marker, nowS: number): PlanPart {
  return {
    items: [
      {
        role: 'marker',
        item: markerPut(ref, marker, 'attribute_not_exists(#uuid) OR #ttl < :now', {
          names: { '#uuid': 'uuid', '#ttl': 'ttl' },
          values: { ':now': { N: String(nowS) } },
        }),
      },
    ],
  };
}

/** Completes a PROCESSING marker that its claim's fingerprint still owns. */
export function completeMarker(ref: MarkerRef, marker: Marker): PlanPart {
  return {
    items: [
      {
        role: 'marker',
        item: markerPut(ref, marker, '#status = :processing AND #fingerprint = :fingerprint', {
          names: { '#status': 'status', '#fingerprint': 'fingerprint' },
          values: { ':processing': { S: 'PROCESSING' }, ':fingerprint': { S: marker.fingerprint } },
        }),
      },
    ],
  };
}

interface Expression {
  readonly names: Record<string, string>;
  readonly values: Record<string, { S: string } | { N: string }>;
}

function markerPut(
  ref: MarkerRef,
  marker: Marker,
  condition: string,
  { names, values }: Expression,
): TransactItem {
  return {
    Put: {
      Item: toAttributes({
        ...markerKey(ref),
        status: marker.status,
        fingerprint: marker.fingerprint,
        tx: marker.transactionId,
        outcome: marker.outcome === undefined ? undefined : storedAttributes(marker.outcome),
        claim_of:
          marker.claimOf === undefined
            ? undefined
            : { a: marker.claimOf.accountId, o: marker.claimOf.orderId, r: marker.claimOf.refundId },
        processed_at: integer(marker.processedAtMs),
        ttl: integer(marker.ttlS),
      }),
      ConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}

/** Frees the key of a claim that came to nothing: the same key may be used again. */
export function deleteMarker(ref: MarkerRef, fingerprint: string): PlanPart {
  return {
    items: [
      {
        role: 'marker',
        item: {
          Delete: {
            Key: toAttributes({ ...markerKey(ref) }),
            ConditionExpression: '#status = :processing AND #fingerprint = :fingerprint',
            ExpressionAttributeNames: { '#status': 'status', '#fingerprint': 'fingerprint' },
            ExpressionAttributeValues: {
              ':processing': { S: 'PROCESSING' },
              ':fingerprint': { S: fingerprint },
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      },
    ],
  };
}
