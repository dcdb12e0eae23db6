import { describe, expect, it } from 'vitest';
import {
  IDEMPOTENCY_RECORD_LIFE_S,
  completeIdempotencyRecord,
  deleteIdempotencyRecord,
  isLive,
  putIdempotencyRecordIfNew,
} from '../../../../src/ledger/items/idempotency-record.ts';
import { RECORD_REF, RECORD, CLAIMED, text, vector } from './golden-vectors.ts';

describe('the golden vectors of markers', () => {
  it('a completed marker, only where none is live', () => {
    expect(text(putIdempotencyRecordIfNew(RECORD_REF, RECORD, 1_900_000_000).items)).toBe(
      [
        vector('record', {
          Put: {
            Item: {
              uuid: { S: 'demo#alice' },
              type: { S: 'card_op_idem#charge#k1' },
              status: { S: 'COMPLETED' },
              fingerprint: { S: 'ffff' },
              tx: { S: 'tx-1' },
              outcome: {
                M: {
                  kind: { S: 'ChargeSuccess' },
                  accountId: { S: 'alice' },
                  orderId: { S: '01HZY3V9QK7F0B6W8N4T2D5XCM' },
                  entryId: { S: '01HZY3V9QK7F0B6W8N4T2D5XCN' },
                  asset: { S: 'ECOPAY' },
                },
              },
              processed_at: { N: '1900000000000' },
              ttl: { N: '1907776000' },
            },
            ConditionExpression: 'attribute_not_exists(#uuid) OR #ttl < :now',
            ExpressionAttributeNames: { '#uuid': 'uuid', '#ttl': 'ttl' },
            ExpressionAttributeValues: { ':now': { N: '1900000000' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('a claim’s marker, which names the order and refund that it waits for', () => {
    expect(text(putIdempotencyRecordIfNew(RECORD_REF, CLAIMED, 1_900_000_000).items)).toBe(
      [
        vector('record', {
          Put: {
            Item: {
              uuid: { S: 'demo#alice' },
              type: { S: 'card_op_idem#charge#k1' },
              status: { S: 'PROCESSING' },
              fingerprint: { S: 'ffff' },
              tx: { S: 'tx-1' },
              claim_of: {
                M: {
                  a: { S: 'alice' },
                  o: { S: '01HZY3V9QK7F0B6W8N4T2D5XCM' },
                  r: { S: '01HZY3V9QK7F0B6W8N4T2D5XCN' },
                },
              },
              processed_at: { N: '1900000000000' },
              ttl: { N: '1907776000' },
            },
            ConditionExpression: 'attribute_not_exists(#uuid) OR #ttl < :now',
            ExpressionAttributeNames: { '#uuid': 'uuid', '#ttl': 'ttl' },
            ExpressionAttributeValues: { ':now': { N: '1900000000' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('the completion of a claim’s marker, only by the request that claimed', () => {
    expect(text(completeIdempotencyRecord(RECORD_REF, RECORD).items)).toBe(
      [
        vector('record', {
          Put: {
            Item: {
              uuid: { S: 'demo#alice' },
              type: { S: 'card_op_idem#charge#k1' },
              status: { S: 'COMPLETED' },
              fingerprint: { S: 'ffff' },
              tx: { S: 'tx-1' },
              outcome: {
                M: {
                  kind: { S: 'ChargeSuccess' },
                  accountId: { S: 'alice' },
                  orderId: { S: '01HZY3V9QK7F0B6W8N4T2D5XCM' },
                  entryId: { S: '01HZY3V9QK7F0B6W8N4T2D5XCN' },
                  asset: { S: 'ECOPAY' },
                },
              },
              processed_at: { N: '1900000000000' },
              ttl: { N: '1907776000' },
            },
            ConditionExpression: '#status = :processing AND #fingerprint = :fingerprint',
            ExpressionAttributeNames: { '#status': 'status', '#fingerprint': 'fingerprint' },
            ExpressionAttributeValues: { ':processing': { S: 'PROCESSING' }, ':fingerprint': { S: 'ffff' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('the release of a claim’s marker', () => {
    expect(text(deleteIdempotencyRecord(RECORD_REF, 'ffff').items)).toBe(
      [
        vector('record', {
          Delete: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'card_op_idem#charge#k1' } },
            ConditionExpression: '#status = :processing AND #fingerprint = :fingerprint',
            ExpressionAttributeNames: { '#status': 'status', '#fingerprint': 'fingerprint' },
            ExpressionAttributeValues: { ':processing': { S: 'PROCESSING' }, ':fingerprint': { S: 'ffff' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });
});

describe('a marker’s life', () => {
  it('is ninety days, and ends by comparison, not by deletion', () => {
    expect(IDEMPOTENCY_RECORD_LIFE_S).toBe(7_776_000);
    expect(isLive({ ttlS: 1_900_000_000 }, 1_899_999_999)).toBe(true);
    expect(isLive({ ttlS: 1_900_000_000 }, 1_900_000_000)).toBe(true);
    expect(isLive({ ttlS: 1_900_000_000 }, 1_900_000_001)).toBe(false);
  });
});
