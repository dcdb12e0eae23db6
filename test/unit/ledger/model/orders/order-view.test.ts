import { describe, expect, it } from 'vitest';
import { ORDER_STATES, type OrderState } from '../../../../../src/ledger/model/orders/order-states.ts';
import { isCancelable, payableWith, paymentPage } from '../../../../../src/ledger/model/orders/order-view.ts';
import type { Attempt, Order } from '../../../../../src/ledger/model/orders/order.ts';
import { openedOrder } from '../../../../support/sample-orders.ts';

const NOW_MS = 1_900_000_000_000;

const ATTEMPT: Attempt = {
  number: 1,
  state: 'OPEN',
  tries: 0,
  successUrl: 'https://shop.example/paid',
  cancelUrl: 'https://shop.example/canceled',
  paymentMethodTypes: ['card'],
  itemized: false,
  expiresAtMs: NOW_MS + 1_000,
  sessionId: 'cs_1',
  url: 'https://checkout.example/cs_1',
};

function order(state: OrderState, patch: Partial<Order> = {}): Order {
  const opened = openedOrder({
    tenant: 't_1',
    orderId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    merchantId: 'm_1',
    currency: 'USD',
    amount: '20',
    atMs: NOW_MS,
  });
  return { ...opened, state, ...patch };
}

describe('how an order can be paid now', () => {
  it('follows the table of states', () => {
    const ways = Object.fromEntries(ORDER_STATES.map((state) => [state, payableWith(order(state), NOW_MS)]));
    expect(ways).toEqual({
      CREATED: ['WALLET', 'CHECKOUT'],
      FAILED: ['WALLET', 'CHECKOUT'],
      EXPIRED: ['WALLET', 'CHECKOUT'],
      SESSION_CREATED: [],
      PENDING_PAYMENT: [],
      PAID: [],
      CONFIRMED: [],
      CANCELED: [],
      REFUNDED: [],
    });
  });

  it('is the open page while a session can be paid, and not after', () => {
    const open = order('SESSION_CREATED', { attempts: [ATTEMPT] });
    expect(payableWith(open, NOW_MS)).toEqual(['CHECKOUT']);
    expect(payableWith(open, NOW_MS + 1_000)).toEqual([]);
  });

  it('is no way at all while somebody asks the provider for a session', () => {
    const claimed = order('CREATED', { attempts: [{ ...ATTEMPT, state: 'CLAIMED' }] });
    expect(payableWith(claimed, NOW_MS)).toEqual([]);
    expect(isCancelable(claimed)).toBe(false);
  });

  it('is never a wallet for a top-up', () => {
    expect(payableWith(order('FAILED', { kind: 'TOP_UP' }), NOW_MS)).toEqual(['CHECKOUT']);
  });

  it('is no further session after a hundred', () => {
    const attempts = Array.from({ length: 100 }, () => ({ ...ATTEMPT, state: 'CLOSED' as const }));
    expect(payableWith(order('FAILED', { attempts }), NOW_MS)).toEqual(['WALLET']);
  });
});

describe('whether an order can be canceled', () => {
  it('follows the table of states', () => {
    expect(ORDER_STATES.filter((state) => isCancelable(order(state)))).toEqual([
      'CREATED',
      'SESSION_CREATED',
      'FAILED',
      'EXPIRED',
    ]);
  });
});

describe('where the customer goes now', () => {
  const voucher = { url: 'https://slip.example/1', expiresAtMs: NOW_MS + 5_000 };

  it("is the session's page until it ends", () => {
    const open = order('SESSION_CREATED', { attempts: [ATTEMPT] });
    expect(paymentPage(open, NOW_MS + 999)).toEqual({ url: ATTEMPT.url, expiresAtMs: NOW_MS + 1_000 });
    expect(paymentPage(open, NOW_MS + 1_000)).toBeUndefined();
  });

  it('is the slip of a waiting payment until its deadline', () => {
    const waiting = order('PENDING_PAYMENT', { attempts: [ATTEMPT], voucher });
    expect(paymentPage(waiting, NOW_MS)).toEqual(voucher);
    expect(paymentPage(waiting, NOW_MS + 5_000)).toBeUndefined();
  });

  it('is nowhere without either, and nowhere once paid', () => {
    expect(paymentPage(order('PENDING_PAYMENT', { attempts: [ATTEMPT] }), NOW_MS)).toBeUndefined();
    expect(paymentPage(order('PAID', { attempts: [ATTEMPT], voucher }), NOW_MS)).toBeUndefined();
  });
});
