import { describe, expect, it } from 'vitest';
import {
  type EventRecord,
  isSettled,
  putEvent,
  putPayment,
  readEventRecord,
  readRecordedPayment,
} from '../../../../src/ledger/items/event-item.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { PlanPart } from '../../../../src/ledger/items/plan.ts';
import { ORDER_ID } from '../usecases/provider-updates/provider-objects.ts';

/** The wire format of what is kept of events and payments (docs/DESIGN.md §3). */

const TENANTLESS: EventRecord = {
  eventId: 'evt_1',
  type: 'payment_intent.succeeded',
  outcome: 'MISMATCH',
  livemode: false,
  occurredAtMs: 1_900_000_000_000,
  processedAtMs: 1_900_000_001_500,
  objectId: 'pi_1',
  detail: 'another amount than the order',
  transactionId: 'token',
  ttlS: 1_902_592_001,
};

const RECORD: EventRecord = {
  ...TENANTLESS,
  tenant: 'demo',
  order: { tenant: 'demo', accountId: 'alice', orderId: ORDER_ID },
};

function putOf(part: PlanPart) {
  const item = part.items[0]?.item;
  if (item === undefined || !('Put' in item)) throw new Error('no put');
  return item.Put;
}

describe('an event marker', () => {
  it('is this item, listed for operators under its tenant and month', () => {
    expect(putOf(putEvent(RECORD, 'FAILED'))).toEqual({
      Item: {
        uuid: { S: 'stripe#evt_1' },
        type: { S: 'EVENT' },
        outcome: { S: 'MISMATCH' },
        event: { S: 'payment_intent.succeeded' },
        object: { S: 'pi_1' },
        tenant: { S: 'demo' },
        account: { S: 'alice' },
        order: { S: ORDER_ID },
        detail: { S: 'another amount than the order' },
        livemode: { BOOL: false },
        occurred_at: { N: '1900000000000' },
        processed_at: { N: '1900000001500' },
        tx: { S: 'token' },
        ttl: { N: '1902592001' },
        listed: { S: 'event#MISMATCH#demo#2030-03' },
        listed_at: { N: '1900000001500' },
      },
      ConditionExpression: 'attribute_not_exists(#uuid) OR #ttl < :now OR #outcome = :known',
      ExpressionAttributeNames: { '#uuid': 'uuid', '#ttl': 'ttl', '#outcome': 'outcome' },
      ExpressionAttributeValues: { ':now': { N: '1900000001' }, ':known': { S: 'FAILED' } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  it('of a replay gives way to APPLIED alone', () => {
    const put = putOf(putEvent(RECORD, 'ALL_BUT_APPLIED'));
    expect(put.ConditionExpression).toBe('attribute_not_exists(#uuid) OR #ttl < :now OR #outcome <> :known');
    expect(put.ExpressionAttributeValues?.[':known']).toEqual({ S: 'APPLIED' });
  });

  it('is listed only where there is a problem, and an operator to see it', () => {
    for (const record of [
      { ...RECORD, outcome: 'APPLIED' } as const,
      { ...RECORD, outcome: 'STALE' } as const,
      TENANTLESS,
    ]) {
      expect(putOf(putEvent(record, 'FAILED')).Item['listed']).toBeUndefined();
    }
  });

  it('is read as it was written', () => {
    expect(readEventRecord(putOf(putEvent(RECORD, 'FAILED')).Item)).toEqual(RECORD);
  });

  it('answers its event until its time is over, unless it failed', () => {
    const nowS = 1_902_592_001;
    expect(isSettled(RECORD, 'FAILED', nowS)).toBe(true);
    expect(isSettled(RECORD, 'FAILED', nowS + 1)).toBe(false);
    expect(isSettled({ ...RECORD, outcome: 'FAILED' }, 'FAILED', nowS)).toBe(false);
    expect(isSettled(RECORD, 'ALL_BUT_APPLIED', nowS)).toBe(false);
    expect(isSettled({ ...RECORD, outcome: 'APPLIED' }, 'ALL_BUT_APPLIED', nowS)).toBe(true);
  });
});

describe('a payment item', () => {
  it('is put once, without an end, and read as it was written', () => {
    const recorded = {
      paymentId: 'pi_1',
      tenant: 'demo',
      accountId: 'alice',
      orderId: ORDER_ID,
      recordedAs: 'SURPLUS',
      attempt: 2,
      currency: 'JPY',
      amount: decimal('500'),
      atMs: 1_900_000_000_000,
    } as const;
    const put = putOf(putPayment(recorded));
    expect(put).toEqual({
      Item: {
        uuid: { S: 'stripe#pi_1' },
        type: { S: 'PAYMENT' },
        tenant: { S: 'demo' },
        account: { S: 'alice' },
        order: { S: ORDER_ID },
        booked_as: { S: 'SURPLUS' },
        attempt: { N: '2' },
        currency: { S: 'JPY' },
        amount: { N: '500' },
        at: { N: '1900000000000' },
      },
      ConditionExpression: 'attribute_not_exists(#uuid)',
      ExpressionAttributeNames: { '#uuid': 'uuid' },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    expect(readRecordedPayment(put.Item)).toEqual(recorded);
  });
});
