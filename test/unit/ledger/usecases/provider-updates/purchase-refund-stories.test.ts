import { describe, it, vi } from 'vitest';
import { failRefund } from '../../../../../src/ledger/model/orders/refunds.ts';
import { newOrder, refund, session, tell, withSessions } from './provider-objects.ts';
import type { Story } from './story.ts';
import { PAID, claimed, completed, expectEnding, ours, paidFirst, provider } from './story-parts.ts';
/**
 * For each story of a purchase that is refunded: every order of its events, with duplicates and with the same facts told again by other events, ends alike
 * (docs/DESIGN.md §8, "Order of arrival never matters").
 */

// Thousands of events a story: on a busy machine that takes longer than a test usually may.
vi.setConfig({ testTimeout: 60_000 });

const ULID_A = '01HZY3V9QK7F0B6W8N4T2D5XFA';
const ULID_B = '01HZY3V9QK7F0B6W8N4T2D5XFB';

/** A refund that an operation of ours has claimed, and asked the provider for. */
function claimRefund(refundId: string, amount: string): NonNullable<Story['then']> {
  return (memory, paid) => {
    memory.putChange(claimed(paid, refundId, amount));
  };
}

describe('a refund of a purchase', () => {
  it('in two parts', () => {
    const one = refund('re_1', 200, 'succeeded', ours('rf_a'));
    const other = refund('re_2', 300, 'succeeded', ours('rf_b'));
    return expectEnding(
      {
        first: paidFirst,
        then: (memory, paid) => {
          const first = claimed(paid, 'rf_a', '200');
          memory.putChange(first);
          memory.putChange(claimed(first.order, 'rf_b', '300'));
        },
        events: [
          tell.refund('created', { ...one, status: 'pending' }),
          tell.refund('updated', one),
          tell.refund('created', other),
          tell.chargeRefunded(),
        ],
        provider: (state) => {
          state.refunds.set('re_1', one).set('re_2', other);
        },
      },
      {
        ...PAID,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['rf_a SUCCEEDED 200', 'rf_b SUCCEEDED 300'],
        sums: { stripe: '0', merchant: '0', receivable: '0', overpayment: '0' },
      },
    );
  });

  it('that the provider made twice for one of ours: the second is a fact of its own', () =>
    expectEnding(
      {
        first: paidFirst,
        then: (memory, paid) => {
          const asked = claimed(paid, 'rf_a', '200');
          memory.putChange({ ...asked, refund: { ...asked.refund, providerRefundId: 're_1' } });
        },
        events: [
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours('rf_a'))),
          tell.refund('created', refund('re_2', 200, 'succeeded', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        refundable: '100',
        refunded: '400',
        refunds: ['re_2 SUCCEEDED 200', 'rf_a SUCCEEDED 200'],
        sums: { stripe: '-100', merchant: '100', receivable: '0', overpayment: '0' },
      },
    ));

  it('whose metadata names another one of ours by now, or none, is the one that it was', () =>
    expectEnding(
      {
        first: paidFirst,
        then: (memory, paid) => {
          const { order, refund: asked } = claimed(paid, ULID_A, '200');
          memory.putChange({ order, refund: { ...asked, providerRefundId: 're_1' } });
          memory.putChange(claimed(order, ULID_B, '200'));
        },
        events: [
          tell.refund('updated', refund('re_1', 200, 'pending', { metadata: {} })),
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours(ULID_B))),
        ],
      },
      {
        ...PAID,
        refundable: '100',
        refunded: '200',
        refundPending: '200',
        refunds: [`${ULID_A} SUCCEEDED 200`, `${ULID_B} PENDING 200`],
        sums: { stripe: '-300', merchant: '300', receivable: '0', overpayment: '0' },
      },
    ));

  it('that was released as never made, and that the provider has after all: a fact of its own', () =>
    expectEnding(
      {
        first: paidFirst,
        then: (memory, paid) => {
          const what = { actor: 'cafe-office', atMs: 0 };
          const { order, refund: asked } = claimed(paid, 'rf_a', '200');
          memory.putChange(failRefund(order, asked, { failureReason: 'refused' }, [], what));
        },
        events: [
          tell.refund('created', refund('re_1', 200, 'pending', ours('rf_a'))),
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        refundable: '300',
        refunded: '200',
        refunds: ['re_1 SUCCEEDED 200', 'rf_a FAILED 200'],
        sums: { stripe: '-300', merchant: '300', receivable: '0', overpayment: '0' },
      },
    ));

  it.each(['pending', 'succeeded'] as const)('that fails after it was %s', (before) =>
    expectEnding(
      {
        first: paidFirst,
        then: claimRefund('rf_a', '500'),
        events: [
          tell.refund('created', refund('re_1', 500, 'pending', ours('rf_a'))),
          tell.refund('updated', refund('re_1', 500, before, ours('rf_a'))),
          tell.refund('failed', refund('re_1', 500, 'failed', ours('rf_a'))),
        ],
      },
      { ...PAID, refunds: ['rf_a FAILED 500'] },
    ),
  );

  it('made in the dashboard, told before its payment', () =>
    expectEnding(
      {
        events: [
          completed,
          tell.refund('created', refund('re_1', 200, 'pending')),
          tell.refund('updated', refund('re_1', 200, 'succeeded')),
          tell.chargeRefunded(),
        ],
        provider: (state) => {
          provider(state);
          state.refunds.set('re_1', refund('re_1', 200, 'succeeded'));
        },
      },
      {
        ...PAID,
        refundable: '300',
        refunded: '200',
        refunds: ['re_1 SUCCEEDED 200'],
        sums: { stripe: '-300', merchant: '300', receivable: '0', overpayment: '0' },
      },
    ));

  it('made in the dashboard beyond what was refundable', () =>
    expectEnding(
      {
        first: paidFirst,
        then: claimRefund('rf_a', '400'),
        events: [
          tell.refund('created', refund('re_9', 500, 'succeeded')),
          tell.refund('created', refund('re_1', 400, 'pending', ours('rf_a'))),
          tell.refund('failed', refund('re_1', 400, 'failed', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['re_9 SUCCEEDED 500', 'rf_a FAILED 400'],
        sums: { stripe: '0', merchant: '0', receivable: '0', overpayment: '0' },
      },
    ));

  it('of a surplus payment, which fails in the end', () => {
    const overpaymentRefund = (status: 'pending' | 'succeeded' | 'failed') =>
      refund('re_1', 500, status, { paymentId: 'pi_2' });
    return expectEnding(
      {
        order: withSessions(newOrder(), 2),
        first: [...paidFirst, tell.session('completed', session(2))],
        events: [
          tell.refund('created', overpaymentRefund('pending')),
          tell.refund('updated', overpaymentRefund('succeeded')),
          tell.refund('failed', overpaymentRefund('failed')),
        ],
      },
      {
        ...PAID,
        attempts: ['1 CLOSED', '2 CLOSED'],
        overpayment: ['500 0'],
        sums: { stripe: '-1000', merchant: '500', receivable: '0', overpayment: '500' },
      },
    );
  });
});
