import { describe, expect, it } from 'vitest';
import { checkedNow, dueAtMs } from '../../../../../src/ledger/model/orders/due.ts';
import type { Order } from '../../../../../src/ledger/model/orders/order.ts';
import { openedOrder } from '../../../../support/sample-orders.ts';

const NOW_MS = 1_900_000_000_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const policy = { sweepAfterMs: 30 * MINUTE_MS };

const waiting: Order = {
  ...openedOrder({ orderId: '01J0000000000000000000000A', amount: '500', atMs: NOW_MS }),
  state: 'PENDING_PAYMENT',
};

function pauses(fraction: number, times: number): readonly number[] {
  let order = waiting;
  return Array.from({ length: times }, () => {
    order = { ...order, checks: checkedNow(order, policy, NOW_MS, { fraction, answered: true }) };
    return (dueAtMs(order, policy) ?? 0) - NOW_MS;
  });
}

describe('the pause until the provider is asked again', () => {
  it('doubles each time, up to a day', () => {
    expect(pauses(0, 7).map((ms) => ms / MINUTE_MS)).toEqual([60, 120, 240, 480, 960, 1440, 1440]);
  });

  it('is scattered by up to a tenth, also when it is a day', () => {
    expect(pauses(0.5, 1)).toEqual([63 * MINUTE_MS]);
    expect(pauses(0.999, 8).at(-1)).toBe(DAY_MS + Math.floor(0.0999 * DAY_MS));
  });

  it('stays as it was when the provider could not be asked', () => {
    const once: Order = { ...waiting, checks: { count: 2, lastAtMs: NOW_MS - 1 } };
    expect(checkedNow(once, policy, NOW_MS, { fraction: 0, answered: false })).toEqual({
      count: 2,
      lastAtMs: NOW_MS,
    });
  });

  it('never passes over the end of an open session', () => {
    const expiresAtMs = NOW_MS + MINUTE_MS;
    const open: Order = {
      ...waiting,
      state: 'SESSION_CREATED',
      attempts: [
        {
          number: 1,
          state: 'OPEN',
          tries: 0,
          successUrl: 'https://shop.example/paid',
          cancelUrl: 'https://shop.example/back',
          paymentMethodTypes: ['card'],
          itemized: false,
          expiresAtMs,
          sessionId: 'cs_1',
        },
      ],
    };
    const checks = checkedNow(open, policy, NOW_MS, { fraction: 0.999, answered: true });
    expect(dueAtMs({ ...open, checks }, policy)).toBe(expiresAtMs + MINUTE_MS);
  });
});
