import { describe, it, vi } from 'vitest';
import { newOrder, payment, session, tell, withSessions } from './provider-objects.ts';
import {
  NOTHING_YET,
  PAID,
  completed,
  declined,
  expectEnding,
  voucher,
  succeeded,
  unpaid,
  waiting,
} from './story-parts.ts';
/**
 * For each story of a purchase and its payments: every order of its events, with duplicates and with the same facts told again by other events, ends alike
 * (docs/DESIGN.md §8, "Order of arrival never matters").
 */

// Thousands of events a story: on a busy machine that takes longer than a test usually may.
vi.setConfig({ testTimeout: 60_000 });

describe('a purchase', () => {
  it('paid by card', () => expectEnding({ events: [completed, succeeded] }, PAID));

  it('declined, then paid', () =>
    expectEnding({ events: [tell.payment('payment_failed', declined), completed, succeeded] }, PAID));

  it('paid at a convenience store', () =>
    expectEnding(
      {
        events: [
          tell.payment('requires_action', waiting),
          tell.session('completed', unpaid),
          succeeded,
          tell.session('async_payment_succeeded', session(1)),
        ],
      },
      PAID,
    ));

  it('waiting at a convenience store', () =>
    expectEnding(
      {
        events: [tell.payment('requires_action', waiting), tell.session('completed', unpaid)],
        provider: (state) => state.sessions.set('cs_1', unpaid),
      },
      { ...NOTHING_YET, state: 'PENDING_PAYMENT', voucher: voucher.url },
    ));

  it('waiting at a convenience store with a second slip: the one that the provider shows now', () => {
    const second = { ...waiting, voucher: { ...voucher, url: 'https://payments.stripe.test/second' } };
    return expectEnding(
      {
        events: [
          tell.payment('requires_action', waiting),
          tell.session('completed', unpaid),
          tell.payment('requires_action', second),
        ],
        provider: (state) => {
          state.sessions.set('cs_1', unpaid);
          state.payments.set('pi_1', second);
        },
      },
      { ...NOTHING_YET, state: 'PENDING_PAYMENT', voucher: second.voucher.url },
    );
  });

  it('never paid at the convenience store', () =>
    expectEnding(
      {
        events: [
          tell.payment('requires_action', waiting),
          tell.session('completed', unpaid),
          tell.payment('payment_failed', declined),
          tell.session('async_payment_failed', unpaid),
        ],
        provider: (state) => state.sessions.set('cs_1', unpaid),
      },
      { ...NOTHING_YET, state: 'FAILED' },
    ));

  it('whose payment is canceled', () =>
    expectEnding(
      {
        events: [
          tell.payment('requires_action', waiting),
          tell.session('completed', unpaid),
          tell.payment('canceled', { ...waiting, status: 'canceled' }),
        ],
        provider: (state) => state.sessions.set('cs_1', unpaid),
      },
      { ...NOTHING_YET, state: 'FAILED' },
    ));

  it('whose payment is canceled while its session can still be paid: it waits for the session', () =>
    expectEnding(
      {
        events: [
          tell.payment('payment_failed', declined),
          tell.payment('canceled', { ...declined, status: 'canceled' }),
        ],
        provider: (state) =>
          state.sessions.set('cs_1', session(1, { status: 'open', paymentStatus: 'unpaid' })),
      },
      { ...NOTHING_YET, state: 'SESSION_CREATED', attempts: ['1 OPEN'] },
    ));

  it('whose session expires, and with it the payment', () => {
    const expired = session(1, { status: 'expired', paymentStatus: 'unpaid' });
    return expectEnding(
      {
        events: [
          tell.payment('payment_failed', declined),
          tell.session('expired', expired),
          tell.payment('canceled', { ...declined, status: 'canceled' }),
        ],
        provider: (state) => state.sessions.set('cs_1', expired),
      },
      { ...NOTHING_YET, state: 'EXPIRED' },
    );
  });

  it('expired, then paid after all', () =>
    expectEnding(
      {
        events: [
          tell.session('expired', session(1, { status: 'expired', paymentStatus: 'unpaid' })),
          completed,
          succeeded,
        ],
      },
      PAID,
    ));

  it('paid on an earlier attempt while a later one is open, which then expires', () =>
    expectEnding(
      {
        order: withSessions(newOrder(), 2),
        events: [
          tell.session('expired', session(1, { status: 'expired', paymentStatus: 'unpaid' })),
          completed,
          succeeded,
          tell.session('expired', session(2, { status: 'expired', paymentStatus: 'unpaid' })),
        ],
      },
      { ...PAID, attempts: ['1 CLOSED', '2 CLOSED'] },
    ));

  it('paid twice', () =>
    expectEnding(
      {
        order: withSessions(newOrder(), 2),
        events: [
          completed,
          succeeded,
          tell.session('completed', session(2)),
          tell.payment('succeeded', payment(2)),
        ],
      },
      {
        ...PAID,
        attempts: ['1 CLOSED', '2 CLOSED'],
        overpayment: ['500 0'],
        sums: { stripe: '-1000', merchant: '500', receivable: '0', overpayment: '500' },
      },
    ));
});
