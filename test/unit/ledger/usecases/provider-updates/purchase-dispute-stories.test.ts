import { describe, it, vi } from 'vitest';
import { dispute, newOrder, session, tell, withSessions } from './provider-objects.ts';
import { PAID, expectEnding, lost, now, opened, paidFirst, provider, succeeded, won } from './story-parts.ts';
/**
 * For each story of a purchase whose payment is disputed: every order of its events, with duplicates and with the same facts told again by other events, ends alike
 * (docs/DESIGN.md §8, "Order of arrival never matters").
 */

// Thousands of events a story: on a busy machine that takes longer than a test usually may.
vi.setConfig({ testTimeout: 60_000 });

describe('a dispute of a purchase', () => {
  it('won, told before its payment', () =>
    expectEnding(
      { events: [succeeded, ...opened, won], provider: now('won') },
      { ...PAID, disputes: ['du_1 won 500 false'] },
    ));

  it('lost, told before its payment', () =>
    expectEnding(
      { events: [succeeded, ...opened, lost], provider: now('lost') },
      {
        ...PAID,
        disputed: true,
        disputes: ['du_1 lost 500 true'],
        sums: { stripe: '0', merchant: '0', receivable: '0', overpayment: '0' },
      },
    ));

  it('won after it was lost', () =>
    expectEnding(
      { events: [...opened, lost, won], provider: now('won') },
      { ...PAID, disputes: ['du_1 won 500 false'] },
    ));

  it('won after it was lost, over another amount by then: what was booked comes back', () =>
    expectEnding(
      {
        events: [...opened, lost, tell.dispute('closed', dispute('won', { amountMinor: 300 }))],
        provider: (state) => {
          provider(state);
          state.disputes.set('du_1', dispute('won', { amountMinor: 300 }));
        },
      },
      { ...PAID, disputes: ['du_1 won 300 false'] },
    ));

  it('over another amount than at first, while it is open', () =>
    expectEnding(
      {
        events: [
          succeeded,
          tell.dispute('created', dispute('open')),
          tell.dispute('updated', dispute('open', { amountMinor: 300 })),
        ],
        provider: (state) => {
          provider(state);
          state.disputes.set('du_1', dispute('open', { amountMinor: 300 }));
        },
      },
      { ...PAID, disputed: true, disputes: ['du_1 open 300 false'] },
    ));

  it('that was an inquiry only', () =>
    expectEnding(
      {
        events: [
          succeeded,
          tell.dispute('created', dispute('inquiry')),
          tell.dispute('closed', dispute('cleared')),
        ],
        provider: now('cleared'),
      },
      { ...PAID, disputes: ['du_1 cleared 500 false'] },
    ));

  it('of a surplus payment that is lost', () =>
    expectEnding(
      {
        order: withSessions(newOrder(), 2),
        first: [...paidFirst, tell.session('completed', session(2))],
        events: [
          tell.dispute('created', dispute('open', { paymentId: 'pi_2' })),
          tell.dispute('closed', dispute('lost', { paymentId: 'pi_2' })),
        ],
        provider: (state) => {
          provider(state);
          state.disputes.set('du_1', dispute('lost', { paymentId: 'pi_2' }));
        },
      },
      {
        ...PAID,
        attempts: ['1 CLOSED', '2 CLOSED'],
        overpayment: ['500 0'],
        disputes: ['du_1 lost 500 true'],
        sums: { stripe: '-500', merchant: '500', receivable: '0', overpayment: '0' },
      },
    ));
});
