import {
  type StoredItem,
  optionalMap,
  optionalString,
  readInteger,
  readOneOf,
  readString,
  toAttributes,
} from '../kernel/attributes.ts';
import { defined } from '../kernel/defined.ts';
import { integer } from '../kernel/integers.ts';
import { type IdempotencyRef, idempotencyRecordKey } from '../kernel/keys.ts';
import { type Stored, readStored, storedAttributes } from '../model/outcomes.ts';
import type { PlanPart, TransactItem } from './plan.ts';

/** An idempotency record lives this long; after it a key is new again (docs/DESIGN.md §5.8). */
export const IDEMPOTENCY_RECORD_LIFE_S = 90 * 86_400;

/** The idempotency record of one request. */
export interface IdempotencyRecord {
  readonly status: 'PROCESSING' | 'COMPLETED' | 'FAILED';
  readonly fingerprint: string;
  /** The transaction that wrote it: how a lost answer is recognised as our own commit. */
  readonly transactionId: string;
  /** Frozen once there is one: of a PROCESSING idempotency record it is absent. */
  readonly outcome?: Stored;
  /** PROCESSING: the order whose claim it waits for, and of a refund's claim which refund. */
  readonly claimOf?: { readonly accountId: string; readonly orderId: string; readonly refundId?: string };
  readonly processedAtMs: number;
  readonly ttlS: number;
}

/** Whether an idempotency record still counts. TTL deletion is late by days, so every reader compares. */
export function isLive(record: Pick<IdempotencyRecord, 'ttlS'>, nowS: number): boolean {
  return record.ttlS >= nowS;
}

export function readIdempotencyRecord(item: StoredItem): IdempotencyRecord {
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

/**
 * The idempotency record is item 0 of its transaction; the condition lets an expired one that is still there be
 * overwritten.
 */
export function putIdempotencyRecordIfNew(
  ref: IdempotencyRef,
  record: IdempotencyRecord,
  nowS: number,
): PlanPart {
  return {
    items: [
      {
        role: 'record',
        item: recordPut(ref, record, 'attribute_not_exists(#uuid) OR #ttl < :now', {
          names: { '#uuid': 'uuid', '#ttl': 'ttl' },
          values: { ':now': { N: String(nowS) } },
        }),
      },
    ],
  };
}

/** Completes a PROCESSING idempotency record that its claim's fingerprint still owns. */
export function completeIdempotencyRecord(ref: IdempotencyRef, record: IdempotencyRecord): PlanPart {
  return {
    items: [
      {
        role: 'record',
        item: recordPut(ref, record, '#status = :processing AND #fingerprint = :fingerprint', {
          names: { '#status': 'status', '#fingerprint': 'fingerprint' },
          values: { ':processing': { S: 'PROCESSING' }, ':fingerprint': { S: record.fingerprint } },
        }),
      },
    ],
  };
}

interface Expression {
  readonly names: Record<string, string>;
  readonly values: Record<string, { S: string } | { N: string }>;
}

function recordPut(
  ref: IdempotencyRef,
  record: IdempotencyRecord,
  condition: string,
  { names, values }: Expression,
): TransactItem {
  return {
    Put: {
      Item: toAttributes({
        ...idempotencyRecordKey(ref),
        status: record.status,
        fingerprint: record.fingerprint,
        tx: record.transactionId,
        outcome: record.outcome === undefined ? undefined : storedAttributes(record.outcome),
        claim_of:
          record.claimOf === undefined
            ? undefined
            : { a: record.claimOf.accountId, o: record.claimOf.orderId, r: record.claimOf.refundId },
        processed_at: integer(record.processedAtMs),
        ttl: integer(record.ttlS),
      }),
      ConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}

/** Frees the key of a claim that came to nothing: the same key may be used again. */
export function deleteIdempotencyRecord(ref: IdempotencyRef, fingerprint: string): PlanPart {
  return {
    items: [
      {
        role: 'record',
        item: {
          Delete: {
            Key: toAttributes({ ...idempotencyRecordKey(ref) }),
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
