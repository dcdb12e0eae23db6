import { describe, expect, it } from 'vitest';
import { bookEntry, checkRoom } from '../../../src/ledger/entry-writes.ts';
import { type Entry, METRIC, ledgerAccount } from '../../../src/ledger/entry.ts';
import {
  MARKER_LIFE_S,
  type Marker,
  completeMarker,
  deleteMarker,
  isLive,
  putMarkerIfNew,
} from '../../../src/ledger/marker.ts';
import { decimal } from '../../../src/ledger/money.ts';
import { checkOrder, putOrder, updateOrder } from '../../../src/ledger/orders/order-writes.ts';
import { openOrder, payOrder } from '../../../src/ledger/orders/payments.ts';
import { type PlanPart, type PlannedItem, plan } from '../../../src/ledger/plan.ts';

/*
 * The wire format, byte by byte: a fleet of two versions shares one table, and a retry must be the same request. A change
 * here is a migration (docs/DESIGN.md §3).
 */

const ORDER_ID = '01HZY3V9QK7F0B6W8N4T2D5XCM';
const ENTRY_ID = '01HZY3V9QK7F0B6W8N4T2D5XCN';
const AT_MS = 1_900_000_000_000;
const POLICY = { sweepAfterMs: 1_800_000 };
const WALLET = ledgerAccount.wallet('alice');
const METRICS = ledgerAccount.metrics('alice');

const ORDER = openOrder({
  tenant: 'demo',
  accountId: 'alice',
  orderId: ORDER_ID,
  kind: 'PURCHASE',
  merchantId: 'cafe',
  currency: 'JPY',
  amount: decimal('480'),
  lines: [{ sku: 'coffee', name: 'Coffee', quantity: 1, unitPrice: decimal('480'), amount: decimal('480') }],
  actor: 'alice',
  consented: false,
  atMs: AT_MS,
});

const PAID = payOrder(
  ORDER,
  'WALLET_CHARGE',
  { method: 'WALLET', atMs: AT_MS + 1_000, asset: 'ECOPAY', points: decimal('4'), co2Kg: decimal('4.8') },
  ['notify'],
  { cause: 'WALLET_CHARGED', actor: 'alice', atMs: AT_MS + 1_000 },
);

const MARKER_REF = { tenant: 'demo', principal: 'alice', operation: 'charge', key: 'k1' };
const MARKER: Marker = {
  status: 'COMPLETED',
  fingerprint: 'ffff',
  transactionId: 'tx-1',
  outcome: {
    kind: 'ChargeSuccess',
    accountId: 'alice',
    orderId: ORDER_ID,
    entryId: ENTRY_ID,
    asset: 'ECOPAY',
  },
  processedAtMs: AT_MS,
  ttlS: 1_907_776_000,
};
const CLAIMED: Marker = {
  status: 'PROCESSING',
  fingerprint: 'ffff',
  transactionId: 'tx-1',
  claimOf: { accountId: 'alice', orderId: ORDER_ID, refundId: ENTRY_ID },
  processedAtMs: AT_MS,
  ttlS: 1_907_776_000,
};

const CHARGE: Entry = {
  tenant: 'demo',
  accountId: 'alice',
  entryId: ENTRY_ID,
  operation: 'CHARGE',
  postings: [
    { debit: WALLET, credit: 'merchant:cafe', asset: 'ECOPAY', amount: decimal('480') },
    { debit: 'issuer', credit: WALLET, asset: 'ECOPAY', amount: decimal('30.50') },
    { debit: 'issuer', credit: METRICS, asset: METRIC.charged, amount: decimal('480') },
    { debit: 'issuer', credit: METRICS, asset: METRIC.co2Kg, amount: decimal('4.80') },
  ],
  orderId: ORDER_ID,
  actor: 'alice',
  atMs: AT_MS,
};

/** An entry that moves 5 between two accounts. */
function entryOf(accounts: { readonly debit: string; readonly credit: string }): Entry {
  return { ...CHARGE, postings: [{ ...accounts, asset: 'ECOPAY', amount: decimal('5') }] };
}

describe('the golden vectors', () => {
  it('a completed marker, only where none is live', () => {
    expect(text(putMarkerIfNew(MARKER_REF, MARKER, 1_900_000_000).items)).toBe(
      [
        vector('marker', {
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
    expect(text(putMarkerIfNew(MARKER_REF, CLAIMED, 1_900_000_000).items)).toBe(
      [
        vector('marker', {
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
    expect(text(completeMarker(MARKER_REF, MARKER).items)).toBe(
      [
        vector('marker', {
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
    expect(text(deleteMarker(MARKER_REF, 'ffff').items)).toBe(
      [
        vector('marker', {
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

  it('an entry with two postings on one balance: one update, the net added, the gross debit demanded', () => {
    expect(text(bookEntry(CHARGE).items)).toBe(
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
        bookEntry(entryOf({ debit: WALLET, credit: 'stripe' }), {
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
        bookEntry(entryOf({ debit: 'cash:till', credit: WALLET }), {
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
    expect(text(bookEntry(entryOf({ debit: 'stripe', credit: WALLET })).items.slice(0, 1))).toBe(
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
    const { items } = bookEntry(entry, { ECOPAY: { kind: 'EXACTLY', read: decimal('0') } });
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

/** Items as they go out, their order of attributes included. */
function text(items: readonly PlannedItem[]): string {
  return items.map(({ role, item }) => vector(role, item)).join('\n');
}

function vector(role: string, item: unknown): string {
  return `${role} ${JSON.stringify(item)}`;
}

describe('a marker’s life', () => {
  it('is ninety days, and ends by comparison, not by deletion', () => {
    expect(MARKER_LIFE_S).toBe(7_776_000);
    expect(isLive({ ttlS: 1_900_000_000 }, 1_899_999_999)).toBe(true);
    expect(isLive({ ttlS: 1_900_000_000 }, 1_900_000_000)).toBe(true);
    expect(isLive({ ttlS: 1_900_000_000 }, 1_900_000_001)).toBe(false);
  });
});

describe('a plan', () => {
  const part = (type: string): PlanPart => ({
    items: [{ role: 'other', item: { Put: { Item: { uuid: { S: 'demo#alice' }, type: { S: type } } } } }],
  });

  it('names no item twice, and has 1 to 100 of them', () => {
    expect(() => plan('t', part('A'), part('A'))).toThrow('names an item twice');
    expect(() => plan('t')).toThrow('1 to 100 items');
    const parts = Array.from({ length: 101 }, (_, index) => part(`T${String(index)}`));
    expect(() => plan('t', ...parts)).toThrow('1 to 100 items');
    expect(plan('t', ...parts.slice(1)).items).toHaveLength(100);
  });

  it('refuses an entry that moves somebody else’s wallet', () => {
    expect(() => bookEntry(entryOf({ debit: 'wallet:bob', credit: WALLET }))).toThrow(RangeError);
    expect(() => bookEntry(entryOf({ debit: 'stripe', credit: 'metrics:bob' }))).toThrow(RangeError);
    // An account may be called `x:alice`.
    expect(() => bookEntry(entryOf({ debit: 'stripe', credit: 'wallet:x:alice' }))).toThrow(RangeError);
  });

  it('refuses an amount above the cap, which a wallet without a balance would let through', () => {
    const cap = decimal('4.99');
    const credit = entryOf({ debit: 'cash:till', credit: WALLET });
    expect(() => bookEntry(credit, { ECOPAY: { kind: 'WITHIN', cap } })).toThrow(RangeError);
    expect(() =>
      checkRoom({ tenant: 'demo', accountId: 'alice', asset: 'ECOPAY' }, decimal('5'), cap),
    ).toThrow(RangeError);
  });
});
