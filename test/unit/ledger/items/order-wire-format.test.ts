import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../../src/ledger/kernel/attributes.ts';
import { orderAttributes } from '../../../../src/ledger/items/order-item.ts';
import { putMetadata } from '../../../../src/ledger/items/order-metadata-item.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { checkOrder, putOrder, updateOrder } from '../../../../src/ledger/items/order-writes.ts';
import { POLICY, ORDER, PAID, text, vector } from './golden-vectors.ts';

describe('the golden vectors of orders', () => {
  it('a new order', () => {
    expect(text(putOrder(ORDER, POLICY).items)).toBe(
      [
        vector('order', {
          Put: {
            Item: {
              uuid: { S: 'demo#alice' },
              type: { S: 'ORDER#01HZY3V9QK7F0B6W8N4T2D5XCM' },
              kind: { S: 'PURCHASE' },
              state: { S: 'CREATED' },
              version: { N: '1' },
              rev: { N: '1' },
              merchant: { S: 'demo#cafe' },
              created: { N: '1900000000000' },
              updated: { N: '1900000000000' },
              currency: { S: 'JPY' },
              amount: { N: '480' },
              actor: { S: 'alice' },
              lines: {
                L: [
                  {
                    M: {
                      s: { S: 'coffee' },
                      n: { S: 'Coffee' },
                      q: { N: '1' },
                      p: { N: '480' },
                      a: { N: '480' },
                    },
                  },
                ],
              },
              timeline: {
                L: [
                  {
                    M: {
                      v: { N: '1' },
                      s: { S: 'CREATED' },
                      c: { S: 'CREATED' },
                      w: { S: 'alice' },
                      t: { N: '1900000000000' },
                    },
                  },
                ],
              },
            },
            ConditionExpression: 'attribute_not_exists(#uuid)',
            ExpressionAttributeNames: { '#uuid': 'uuid' },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('the metadata of an order, in an item beside it', () => {
    const metadata = [{ key: 'cart', value: 'c-77' }];
    expect(text(putMetadata(ORDER, metadata).items)).toBe(
      vector('metadata', {
        Put: {
          Item: {
            uuid: { S: 'demo#alice' },
            type: { S: 'METADATA#01HZY3V9QK7F0B6W8N4T2D5XCM' },
            metadata: { L: [{ M: { k: { S: 'cart' }, v: { S: 'c-77' } } }] },
          },
          ConditionExpression: 'attribute_not_exists(#uuid)',
          ExpressionAttributeNames: { '#uuid': 'uuid' },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      }),
    );
  });

  it('what an order may have beside: a reference, metadata, a dispute with its day', () => {
    const dispute = {
      disputeId: 'du_1',
      paymentId: 'pi_1',
      status: 'open',
      amount: decimal('480'),
      recorded: false,
      ofOverpayment: false,
      reason: 'fraudulent',
      dueByMs: 1_900_600_000_000,
    } as const;
    const order = { ...ORDER, reference: 'INV-7', hasMetadata: true, disputes: [dispute] };
    const { reference, has_metadata, disputes } = toAttributes(orderAttributes(order, POLICY));
    expect(JSON.stringify({ reference, has_metadata, disputes })).toBe(
      '{"reference":{"S":"INV-7"},"has_metadata":{"BOOL":true},"disputes":{"L":[{"M":{"i":{"S":"du_1"},"p":{"S":"pi_1"},"s":{"S":"open"},"a":{"N":"480"},"r":{"S":"fraudulent"},"d":{"N":"1900600000000"}}}]}}',
    );
  });

  it('a paid order: what changed of it, on the condition that nobody wrote it since', () => {
    expect(text(updateOrder(ORDER, PAID, POLICY).items)).toBe(
      [
        vector('order', {
          Update: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'ORDER#01HZY3V9QK7F0B6W8N4T2D5XCM' } },
            UpdateExpression:
              'SET #state = :state, #version = :version, #rev = :rev, #updated = :updated, #payment = :payment, #refundable = :refundable, #steps = :steps, #timeline = :timeline, #due_shard = :due_shard, #due_at = :due_at',
            ConditionExpression: '#rev = :before',
            ExpressionAttributeNames: {
              '#state': 'state',
              '#version': 'version',
              '#rev': 'rev',
              '#updated': 'updated',
              '#payment': 'payment',
              '#refundable': 'refundable',
              '#steps': 'steps',
              '#timeline': 'timeline',
              '#due_shard': 'due_shard',
              '#due_at': 'due_at',
            },
            ExpressionAttributeValues: {
              ':before': { N: '1' },
              ':state': { S: 'PAID' },
              ':version': { N: '2' },
              ':rev': { N: '2' },
              ':updated': { N: '1900000001000' },
              ':payment': {
                M: {
                  m: { S: 'WALLET' },
                  t: { N: '1900000001000' },
                  a: { S: 'ECOPAY' },
                  p: { N: '4' },
                  c: { N: '4.8' },
                },
              },
              ':refundable': { N: '480' },
              ':steps': {
                L: [
                  {
                    M: { n: { S: 'notify' }, s: { S: 'PENDING' }, a: { N: '0' }, t: { N: '1900000001000' } },
                  },
                ],
              },
              ':timeline': {
                L: [
                  {
                    M: {
                      v: { N: '1' },
                      s: { S: 'CREATED' },
                      c: { S: 'CREATED' },
                      w: { S: 'alice' },
                      t: { N: '1900000000000' },
                    },
                  },
                  {
                    M: {
                      v: { N: '2' },
                      f: { S: 'CREATED' },
                      s: { S: 'PAID' },
                      c: { S: 'WALLET_CHARGED' },
                      w: { S: 'alice' },
                      t: { N: '1900000001000' },
                    },
                  },
                ],
              },
              ':due_shard': { S: '4' },
              ':due_at': { N: '1900000001000' },
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('an order whose last value is refunded: the bound is judged by the table, what is gone is removed', () => {
    expect(
      text(
        updateOrder(PAID, { ...PAID, rev: 3, refundable: decimal('0'), steps: [] }, POLICY, decimal('480'))
          .items,
      ),
    ).toBe(
      [
        vector('order', {
          Update: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'ORDER#01HZY3V9QK7F0B6W8N4T2D5XCM' } },
            UpdateExpression: 'SET #rev = :rev REMOVE #refundable, #steps',
            ConditionExpression: '#rev = :before AND #refundable >= :needed',
            ExpressionAttributeNames: { '#rev': 'rev', '#refundable': 'refundable', '#steps': 'steps' },
            ExpressionAttributeValues: { ':before': { N: '2' }, ':rev': { N: '3' }, ':needed': { N: '480' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('a check that nobody wrote an order', () => {
    expect(text(checkOrder(ORDER).items)).toBe(
      [
        vector('order', {
          ConditionCheck: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'ORDER#01HZY3V9QK7F0B6W8N4T2D5XCM' } },
            ConditionExpression: '#rev = :before',
            ExpressionAttributeNames: { '#rev': 'rev' },
            ExpressionAttributeValues: { ':before': { N: '1' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });
});
