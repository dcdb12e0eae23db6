import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../../src/ledger/kernel/attributes.ts';
import { orderAttributes, readOrder } from '../../../../src/ledger/items/order-item.ts';
import type { Attempt } from '../../../../src/ledger/model/orders/order.ts';
import { sampleOrder } from '../../../support/sample-orders.ts';

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
});
