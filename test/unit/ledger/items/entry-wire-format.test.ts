import { describe, expect, it } from 'vitest';
import { recordEntry, checkRoom } from '../../../../src/ledger/items/entry-writes.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { WALLET, CHARGE, entryOf, text, vector } from './golden-vectors.ts';

describe('the golden vectors of entries and balances', () => {
  it('an entry with two postings on one balance: one update, the net added, the gross debit demanded', () => {
    expect(text(recordEntry(CHARGE).items)).toBe(
      [
        vector('balance:ECOPAY', {
          Update: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'BALANCE#ECOPAY' } },
            UpdateExpression: 'SET #updated_at = :at ADD #balance :net, #writes :one',
            ExpressionAttributeNames: {
              '#updated_at': 'updated_at',
              '#balance': 'balance',
              '#writes': 'writes',
            },
            ExpressionAttributeValues: {
              ':at': { N: '1900000000000' },
              ':net': { N: '-449.5' },
              ':one': { N: '1' },
              ':bound': { N: '480' },
            },
            ConditionExpression: '#balance >= :bound',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
        vector('metrics', {
          Update: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'METRICS' } },
            UpdateExpression: 'SET #updated_at = :at ADD #charged :charged, #co2 :co2, #writes :one',
            ExpressionAttributeNames: {
              '#updated_at': 'updated_at',
              '#charged': 'charged_total',
              '#co2': 'co2_reduction_kg',
              '#writes': 'writes',
            },
            ExpressionAttributeValues: {
              ':at': { N: '1900000000000' },
              ':charged': { N: '480' },
              ':co2': { N: '4.8' },
              ':one': { N: '1' },
            },
          },
        }),
        vector('entry', {
          Put: {
            Item: {
              uuid: { S: 'demo#alice' },
              type: { S: 'ENTRY#01HZY3V9QK7F0B6W8N4T2D5XCN' },
              op: { S: 'CHARGE' },
              postings: {
                L: [
                  {
                    M: {
                      d: { S: 'wallet:alice' },
                      c: { S: 'merchant:cafe' },
                      a: { S: 'ECOPAY' },
                      n: { N: '480' },
                    },
                  },
                  {
                    M: { d: { S: 'issuer' }, c: { S: 'wallet:alice' }, a: { S: 'ECOPAY' }, n: { N: '30.5' } },
                  },
                  {
                    M: {
                      d: { S: 'issuer' },
                      c: { S: 'metrics:alice' },
                      a: { S: 'METRIC/CHARGED' },
                      n: { N: '480' },
                    },
                  },
                  {
                    M: {
                      d: { S: 'issuer' },
                      c: { S: 'metrics:alice' },
                      a: { S: 'METRIC/CO2_KG' },
                      n: { N: '4.8' },
                    },
                  },
                ],
              },
              order: { S: '01HZY3V9QK7F0B6W8N4T2D5XCM' },
              actor: { S: 'alice' },
              at: { N: '1900000000000' },
            },
            ConditionExpression: 'attribute_not_exists(#uuid)',
            ExpressionAttributeNames: { '#uuid': 'uuid' },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('a taking of all that a balance held when it was read', () => {
    expect(
      text(
        recordEntry(entryOf({ debit: WALLET, credit: 'stripe' }), {
          ECOPAY: { kind: 'EXACTLY', read: decimal('5') },
        }).items.slice(0, 1),
      ),
    ).toBe(
      [
        vector('balance:ECOPAY', {
          Update: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'BALANCE#ECOPAY' } },
            UpdateExpression: 'SET #updated_at = :at ADD #balance :net, #writes :one',
            ExpressionAttributeNames: {
              '#updated_at': 'updated_at',
              '#balance': 'balance',
              '#writes': 'writes',
            },
            ExpressionAttributeValues: {
              ':at': { N: '1900000000000' },
              ':net': { N: '-5' },
              ':one': { N: '1' },
              ':bound': { N: '5' },
            },
            ConditionExpression: '#balance = :bound',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('a credit within a cap', () => {
    expect(
      text(
        recordEntry(entryOf({ debit: 'cash:till', credit: WALLET }), {
          ECOPAY: { kind: 'WITHIN', cap: decimal('50000') },
        }).items.slice(0, 1),
      ),
    ).toBe(
      [
        vector('balance:ECOPAY', {
          Update: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'BALANCE#ECOPAY' } },
            UpdateExpression: 'SET #updated_at = :at ADD #balance :net, #writes :one',
            ExpressionAttributeNames: {
              '#updated_at': 'updated_at',
              '#balance': 'balance',
              '#writes': 'writes',
            },
            ExpressionAttributeValues: {
              ':at': { N: '1900000000000' },
              ':net': { N: '5' },
              ':one': { N: '1' },
              ':bound': { N: '49995' },
            },
            ConditionExpression: 'attribute_not_exists(#balance) OR #balance <= :bound',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });

  it('a credit that always fits', () => {
    expect(text(recordEntry(entryOf({ debit: 'stripe', credit: WALLET })).items.slice(0, 1))).toBe(
      [
        vector('balance:ECOPAY', {
          Update: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'BALANCE#ECOPAY' } },
            UpdateExpression: 'SET #updated_at = :at ADD #balance :net, #writes :one',
            ExpressionAttributeNames: {
              '#updated_at': 'updated_at',
              '#balance': 'balance',
              '#writes': 'writes',
            },
            ExpressionAttributeValues: {
              ':at': { N: '1900000000000' },
              ':net': { N: '5' },
              ':one': { N: '1' },
            },
          },
        }),
      ].join('\n'),
    );
  });

  it('a check that nothing came to a wallet of which nothing is taken, as one that has no room left', () => {
    const entry = entryOf({ debit: 'receivable:alice', credit: 'stripe' });
    const { items } = recordEntry(entry, { ECOPAY: { kind: 'EXACTLY', read: decimal('0') } });
    const wallet = { tenant: 'demo', accountId: 'alice', asset: 'ECOPAY' };
    expect(text(items.slice(0, -1))).toBe(text([checkRoom(wallet, decimal('5'), decimal('5'))]));
  });

  it('a check that a credit would still fit', () => {
    expect(
      text([
        checkRoom(
          { tenant: 'demo', accountId: 'alice', asset: 'REGIONAL/kyoto' },
          decimal('5'),
          decimal('50000'),
        ),
      ]),
    ).toBe(
      [
        vector('balance:REGIONAL/kyoto', {
          ConditionCheck: {
            Key: { uuid: { S: 'demo#alice' }, type: { S: 'BALANCE#REGIONAL#kyoto' } },
            ConditionExpression: 'attribute_not_exists(#balance) OR #balance <= :bound',
            ExpressionAttributeNames: { '#balance': 'balance' },
            ExpressionAttributeValues: { ':bound': { N: '49995' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        }),
      ].join('\n'),
    );
  });
});
