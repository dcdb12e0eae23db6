import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MalformedItemError,
  type StoredItem,
  toAttributes,
} from '../../../../src/ledger/kernel/attributes.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { orderAttributes } from '../../../../src/ledger/items/order-item.ts';
import { type TransactItem, keyOf } from '../../../../src/ledger/items/plan.ts';
import { deleteRefund, putRefund, readRefund } from '../../../../src/ledger/items/refund-item.ts';
import type { Refund } from '../../../../src/ledger/model/orders/order.ts';
import { anyRefund, sampleOrder, sampleRefund } from '../../../support/sample-orders.ts';

/* How a refund is kept, and what its order counts of it, byte by byte (docs/DESIGN.md §3). */

const ORDER = { ...sampleOrder(), rev: 7 };
const RE_1: Refund = {
  ...sampleRefund('re_1', '100'),
  state: 'SUCCEEDED',
  source: 'DASHBOARD',
  actor: 'stripe',
  paymentId: 'pi_1',
  providerRefundId: 're_1',
  entryId: '01HZY3V9QK7F0B6W8N4T2D5XCN',
};
const KEY = { uuid: { S: 'demo#alice' }, type: { S: 'REFUND#01HZY3V9QK7F0B6W8N4T2D5XCM#re_1' } };

function written(refund: Refund): TransactItem {
  const [planned, ...others] = putRefund({ order: ORDER, refund }).items;
  if (planned === undefined || others.length > 0) throw new Error('a refund is one item');
  expect(planned.role).toBe('refund');
  return planned.item;
}

/** Of a put, the key is the item. */
function itemOf(refund: Refund): StoredItem {
  return keyOf(written(refund));
}

describe('the golden vectors of a refund', () => {
  it('one that is new, which must not be there', () => {
    expect(JSON.stringify(written(RE_1))).toBe(
      JSON.stringify({
        Put: {
          Item: {
            ...KEY,
            state: { S: 'SUCCEEDED' },
            rev: { N: '7' },
            amount: { N: '100' },
            origin: { S: 'DASHBOARD' },
            actor: { S: 'stripe' },
            created: { N: '1900000000000' },
            payment: { S: 'pi_1' },
            provider: { S: 're_1' },
            entry: { S: '01HZY3V9QK7F0B6W8N4T2D5XCN' },
          },
          ConditionExpression: 'attribute_not_exists(#rev)',
          ExpressionAttributeNames: { '#rev': 'rev' },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      }),
    );
  });

  it('one that was there, which nobody may have written since', () => {
    const { reason, failure } = itemOf({ ...RE_1, rev: 6, reason: 'cold', failureReason: 'expired' });
    expect([reason, failure]).toEqual([{ S: 'cold' }, { S: 'expired' }]);
    expect(written({ ...RE_1, rev: 6 })).toMatchObject({
      Put: {
        Item: { ...KEY, rev: { N: '7' } },
        ConditionExpression: '#rev = :read',
        ExpressionAttributeValues: { ':read': { N: '6' } },
      },
    });
  });

  it('one whose keys were spent, and which was looked for', () => {
    const { tries, tried, looked } = itemOf({ ...RE_1, tries: 2, triedAtMs: 3, lookedAtMs: 4 });
    expect([tries, tried, looked]).toEqual([{ N: '2' }, { N: '3' }, { N: '4' }]);
  });

  it('one that was never made, and goes', () => {
    expect(JSON.stringify(deleteRefund({ ...RE_1, rev: 6 }).items)).toBe(
      JSON.stringify([
        {
          role: 'refund',
          item: {
            Delete: {
              Key: KEY,
              ConditionExpression: '#rev = :read',
              ExpressionAttributeValues: { ':read': { N: '6' } },
              ExpressionAttributeNames: { '#rev': 'rev' },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
        },
      ]),
    );
  });

  it('what the order and an overpayment count, and who asks for which', () => {
    const lease = {
      owner: 'o',
      leaseEndMs: 1,
      request: { principal: 'merchant/cafe/m', operation: 'refund', key: 'k' },
      recordTtlS: 2,
    };
    const overpayment = {
      paymentId: 'pi_2',
      amount: decimal('480'),
      refunded: decimal('0'),
      refundCount: 2,
      pendingRefundCount: 1,
    };
    const order = { ...ORDER, overpayments: [overpayment], refundClaims: [{ refundId: 'r', lease }] };
    const { refunds, refunds_pending, refund_claims, surplus } = toAttributes(
      orderAttributes({ ...order, refundCount: 3, pendingRefundCount: 2 }, { sweepAfterMs: 1_800_000 }),
    );
    expect(JSON.stringify([refunds, refunds_pending, refund_claims, surplus])).toBe(
      JSON.stringify([
        { N: '3' },
        { N: '2' },
        {
          L: [
            {
              M: {
                i: { S: 'r' },
                c: {
                  M: {
                    o: { S: 'o' },
                    l: { N: '1' },
                    p: { S: 'merchant/cafe/m' },
                    m: { S: 'refund' },
                    k: { S: 'k' },
                    x: { N: '2' },
                  },
                },
              },
            },
          ],
        },
        { L: [{ M: { p: { S: 'pi_2' }, a: { N: '480' }, r: { N: '0' }, c: { N: '2' }, w: { N: '1' } } }] },
      ]),
    );
  });
});

describe('any refund', () => {
  it('is read as it was written, with the rev of the order that it was written with', () => {
    fc.assert(
      fc.property(anyRefund, (refund) => {
        expect(readRefund(itemOf(refund))).toEqual({ ...refund, rev: 7 });
      }),
    );
  });

  it.each(['state', 'rev', 'amount', 'origin', 'actor', 'created'])('is malformed without its %s', (name) => {
    const broken = Object.fromEntries(
      Object.entries(itemOf(RE_1)).filter(([attribute]) => attribute !== name),
    );
    expect(() => readRefund(broken)).toThrow(MalformedItemError);
  });
});
