import { describe, expect, it } from 'vitest';
import { createWakeUps } from '../../../src/fulfilment/wake-ups.ts';
import { TRANSITION_CAUSES, type TransitionCause } from '../../../src/ledger/model/orders/order.ts';

const ORDER = { tenant: 'demo', accountId: 'alice', orderId: '01HZY3V9QK7F0B6W8N4T2D5XCM' };

/** The causes of which listeners hear, where this actor is behind them all. */
function heardOf(actor: string): readonly TransitionCause[] {
  return TRANSITION_CAUSES.filter((cause) => {
    const wakeUps = createWakeUps();
    let heard = 0;
    wakeUps.onWake((order) => {
      expect(order).toEqual(ORDER);
      heard += 1;
    });
    wakeUps.onCommit(ORDER, { version: 2, from: 'PAID', to: 'PAID', cause, actor, atMs: 1 });
    return heard === 1;
  });
}

describe('a worker is woken', () => {
  it('by what brings steps, and by nothing else', () => {
    expect(heardOf('alice')).toEqual([
      'PAYMENT_FAILED',
      'PAYMENT_RECEIVED',
      'SURPLUS_RECEIVED',
      'WALLET_CHARGED',
      'CASH_RECEIVED',
      'SESSION_EXPIRED',
      'CANCELED',
      'STEP_RETRIED',
      'REFUND_SUCCEEDED',
      'REFUND_FAILED',
      'DISPUTE_OPENED',
      'DISPUTE_WON',
      'DISPUTE_LOST',
    ]);
  });

  it('never by what it writes itself', () => {
    expect(heardOf('worker')).toEqual([]);
  });

  it('no more once it has stopped listening', () => {
    const wakeUps = createWakeUps();
    let heard = 0;
    const off = wakeUps.onWake(() => {
      heard += 1;
    });
    const paid = { version: 2, to: 'PAID', cause: 'CASH_RECEIVED', actor: 'till', atMs: 1 } as const;
    wakeUps.onCommit(ORDER, paid);
    off();
    wakeUps.onCommit(ORDER, paid);
    expect(heard).toBe(1);
  });
});
