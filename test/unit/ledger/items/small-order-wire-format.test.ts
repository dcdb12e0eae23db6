import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../../src/ledger/kernel/attributes.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { orderAttributes, readOrder } from '../../../../src/ledger/items/order-item.ts';
import type { Attempt, Refund } from '../../../../src/ledger/model/orders/order.ts';
import { SAMPLE_AT_MS, sampleOrder } from '../../../support/sample-orders.ts';
import { putOverflowRefund } from '../../../../src/ledger/items/overflow-refund-item.ts';

/* What keeps an order small, byte by byte: a fleet of two versions shares one table (docs/DESIGN.md §3). */

const POLICY = { sweepAfterMs: 1_800_000 };
const ORDER = sampleOrder();

const CLOSED: Attempt = {
  number: 1,
  state: 'CLOSED',
  tries: 0,
  successUrl: '',
  cancelUrl: '',
  paymentMethodTypes: [],
  itemized: false,
  expiresAtMs: 1_900_003_600_000,
  sessionId: 'cs_1',
  paymentId: 'pi_1',
};

const OVERFLOW: Refund = {
  refundId: 're_1',
  amount: decimal('100'),
  state: 'SUCCEEDED',
  source: 'DASHBOARD',
  actor: 'stripe',
  createdAtMs: SAMPLE_AT_MS,
  tries: 0,
  paymentId: 'pi_1',
  providerRefundId: 're_1',
  entryId: '01HZY3V9QK7F0B6W8N4T2D5XCN',
};

describe('the golden vectors of a small order', () => {
  it('an attempt that is closed, which keeps nothing of what was asked for', () => {
    const { attempts } = toAttributes(orderAttributes({ ...ORDER, attempts: [CLOSED] }, POLICY));
    expect(JSON.stringify(attempts)).toBe(
      JSON.stringify({
        L: [
          {
            M: {
              n: { N: '1' },
              s: { S: 'CLOSED' },
              r: { N: '0' },
              su: { S: '' },
              cu: { S: '' },
              pm: { S: '' },
              x: { N: '1900003600000' },
              i: { S: 'cs_1' },
              p: { S: 'pi_1' },
            },
          },
        ],
      }),
    );
  });

  it('an attempt that an earlier release closed, with all that was asked for', () => {
    const item = toAttributes(orderAttributes(ORDER, POLICY));
    const attempt = {
      n: { N: '1' },
      s: { S: 'CLOSED' },
      r: { N: '0' },
      su: { S: 'https://shop.example/paid' },
      cu: { S: 'https://shop.example/back' },
      pm: { S: 'card,konbini' },
      x: { N: '1900003600000' },
      i: { S: 'cs_1' },
      u: { S: 'https://checkout.stripe.test/cs_1' },
      p: { S: 'pi_1' },
    };
    const read = readOrder({ ...item, attempts: { L: [{ M: attempt }] } });
    expect(read.attempts).toEqual([CLOSED]);
    const open = readOrder({ ...item, attempts: { L: [{ M: { ...attempt, s: { S: 'OPEN' } } }] } });
    expect(open.attempts[0]).toMatchObject({
      successUrl: 'https://shop.example/paid',
      cancelUrl: 'https://shop.example/back',
      paymentMethodTypes: ['card', 'konbini'],
      url: 'https://checkout.stripe.test/cs_1',
    });
  });

  it('a refund that a full order keeps beside it, and what such refunds come to', () => {
    const overflow = { count: 2, succeeded: decimal('100'), pending: decimal('20') };
    const { aside: sums } = toAttributes(orderAttributes({ ...ORDER, overflow }, POLICY));
    expect(JSON.stringify(sums)).toBe(
      JSON.stringify({ M: { n: { N: '2' }, s: { N: '100' }, p: { N: '20' } } }),
    );
    expect(JSON.stringify(putOverflowRefund(ORDER, OVERFLOW).items)).toBe(
      JSON.stringify([
        {
          role: 'refund',
          item: {
            Put: {
              Item: {
                uuid: { S: 'stripe#re_1' },
                type: { S: 'REFUND' },
                tenant: { S: 'demo' },
                account: { S: 'alice' },
                order: { S: '01HZY3V9QK7F0B6W8N4T2D5XCM' },
                refund: {
                  M: {
                    i: { S: 're_1' },
                    a: { N: '100' },
                    s: { S: 'SUCCEEDED' },
                    o: { S: 'DASHBOARD' },
                    w: { S: 'stripe' },
                    t: { N: '1900000000000' },
                    y: { N: '0' },
                    p: { S: 'pi_1' },
                    v: { S: 're_1' },
                    e: { S: '01HZY3V9QK7F0B6W8N4T2D5XCN' },
                  },
                },
              },
            },
          },
        },
      ]),
    );
  });
});
