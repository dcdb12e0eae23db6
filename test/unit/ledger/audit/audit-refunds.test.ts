import { describe, expect, it } from 'vitest';
import { isOut, judgeRefunds } from '../../../../src/ledger/audit/audit-refunds.ts';
import type { Entry } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { Order, Refund, Overpayment } from '../../../../src/ledger/model/orders/order.ts';
import { SURPLUS, entry, off, paid, posting, refunded, wrong } from './audited.ts';

const given = (amount: string, ids: Pick<Entry, 'refundId' | 'providerId'>): Entry =>
  entry('REFUND', [posting('merchant:cafe', 'stripe', amount)], ids);
const withRefunds = (...refunds: readonly Refund[]): Order => paid('CHECKOUT', 'PURCHASE', { refunds });

const RF_1 = refunded('rf_1', '100', { providerRefundId: 're_1' });
const OUT = given('100', { refundId: 'rf_1', providerId: 're_1' });

describe('whether the money of a refund is out', () => {
  const purchase = paid('CHECKOUT');
  const topUp = paid('CHECKOUT', 'TOP_UP');
  it.each([
    ['a purchase', 'SUCCEEDED', 'no entry', purchase, true],
    ['a purchase', 'PENDING', 'an entry', purchase, false],
    ['a purchase', 'FAILED', 'an entry', purchase, false],
    ['a top-up', 'SUCCEEDED', 'no entry', topUp, true],
    ['a top-up', 'PENDING', 'an entry', topUp, true],
    ['a top-up', 'PENDING', 'no entry', topUp, false],
    ['a top-up', 'FAILED', 'an entry', topUp, false],
  ] as const)('of %s, %s with %s', (_, state, recorded, order, expected) => {
    const refund = refunded('rf_1', '100', { state, ...(recorded === 'an entry' ? { entryId: 'e_1' } : {}) });
    expect(isOut(order, refund)).toBe(expected);
  });
});

describe('a refund of an order', () => {
  it('has entries that come to its amount, by our id or by the provider’s', () => {
    const reported = refunded('re_2', '30', { providerRefundId: 're_2', source: 'DASHBOARD' });
    expect(judgeRefunds(withRefunds(RF_1, reported), [OUT, given('30', { providerId: 're_2' })], [])).toEqual(
      [],
    );
  });

  it('is found where it was never booked, or twice', () => {
    expect(judgeRefunds(withRefunds(RF_1), [], [])).toEqual([
      off('refund rf_1 by entries', '100', '0', '-100'),
    ]);
    expect(judgeRefunds(withRefunds(RF_1), [OUT, OUT], [])).toEqual([
      off('refund rf_1 by entries', '100', '200', '100'),
    ]);
  });

  it.each(['PENDING', 'FAILED'] as const)('has no entries while it is %s', (state) => {
    const order = withRefunds({ ...RF_1, state });
    expect(judgeRefunds(order, [], [])).toEqual([]);
    expect(judgeRefunds(order, [OUT], [])).toEqual([off('refund rf_1 by entries', '0', '100', '100')]);
  });

  it('that failed after all has entries that come to nothing', () => {
    const back = entry('REFUND', [posting('stripe', 'merchant:cafe', '100')], { refundId: 'rf_1' });
    expect(judgeRefunds(withRefunds({ ...RF_1, state: 'FAILED' }), [OUT, back], [])).toEqual([]);
  });

  it('is known to the order where an entry is of it', () => {
    expect(judgeRefunds(withRefunds(RF_1), [OUT, given('5', { providerId: 're_9' })], [])).toEqual([
      off('refund re_9 by entries', '0', '5', '5'),
    ]);
  });

  it('is kept once, by the id of the provider too', () => {
    const again = refunded('rf_2', '7', { providerRefundId: 're_1' });
    const entries = [OUT, given('7', { refundId: 'rf_2' })];
    expect(judgeRefunds(withRefunds(RF_1, again), entries, [])).toEqual([
      wrong('refund re_1', 'kept once', '2 times'),
    ]);
  });

  it('is booked by refunds’ entries alone', () => {
    const dispute = entry('DISPUTE', [posting('merchant:cafe', 'stripe', '100')], { providerId: 'du_1' });
    expect(judgeRefunds(withRefunds(), [dispute], [])).toEqual([]);
  });

  it('of a top-up takes from the wallet, and from what the account owes', () => {
    const order = paid('CHECKOUT', 'TOP_UP', { refunds: [RF_1] });
    const postings = [
      posting('wallet:alice', 'stripe', '60', 'ECOPAY'),
      posting('receivable:alice', 'stripe', '40', 'ECOPAY'),
    ];
    expect(judgeRefunds(order, [entry('REFUND', postings, { refundId: 'rf_1' })], [])).toEqual([]);
  });
});

describe('a refund that is kept beside its full order', () => {
  const RE_3 = refunded('re_3', '30', { providerRefundId: 're_3', source: 'DASHBOARD', paymentId: 'pi_1' });
  const recorded = given('30', { providerId: 're_3' });
  const full = (count: number, succeeded: string, pending = '0'): Order =>
    paid('CHECKOUT', 'PURCHASE', {
      overflow: { count, succeeded: decimal(succeeded), pending: decimal(pending) },
    });

  it('is booked once and is in the sum of what succeeded', () => {
    expect(judgeRefunds(full(1, '30'), [recorded], [RE_3])).toEqual([]);
    expect(judgeRefunds(full(1, '40'), [recorded], [RE_3])).toEqual([off('aside', '30', '40', '10')]);
    expect(judgeRefunds(full(1, '30'), [], [RE_3])).toEqual([
      off('refund re_3 by entries', '30', '0', '-30'),
    ]);
  });

  it('may be missing while it is pending, but is never more than the order counts', () => {
    const pending: Refund = { ...RE_3, state: 'PENDING' };
    expect(judgeRefunds(full(1, '0', '30'), [], [pending])).toEqual([]);
    expect(judgeRefunds(full(2, '0', '45'), [], [pending])).toEqual([]);
    expect(judgeRefunds(full(1, '0', '20'), [], [pending])).toEqual([
      off('aside pending', '30', '20', '-10'),
    ]);
  });

  it('is counted: more than the order counts are too many', () => {
    const failed: Refund = { ...RE_3, state: 'FAILED' };
    expect(judgeRefunds(full(2, '0'), [], [failed])).toEqual([]);
    expect(judgeRefunds(full(0, '0'), [], [failed])).toEqual([wrong('aside count', 'at least 1', '0')]);
  });

  it('is more than an order counts that isn’t full', () => {
    expect(judgeRefunds(withRefunds(), [recorded], [RE_3])).toEqual([
      off('aside', '30', '0', '-30'),
      wrong('aside count', 'at least 1', '0'),
    ]);
  });

  it('isn’t kept by the order as well', () => {
    const order = { ...full(1, '30'), refunds: [RE_3] };
    expect(judgeRefunds(order, [recorded], [RE_3])).toEqual([wrong('refund re_3', 'kept once', '2 times')]);
  });
});

describe('a refund of a surplus payment', () => {
  const overpaymentOf = (refundedSum: string, state: Refund['state'] = 'SUCCEEDED'): Overpayment => ({
    paymentId: 'pi_2',
    amount: decimal('500'),
    refunded: decimal(refundedSum),
    refunds: [{ providerRefundId: 're_2', amount: decimal('500'), state }],
  });
  const withOverpayment = (overpayment: Overpayment, fields: Partial<Order> = {}): Order =>
    paid('CHECKOUT', 'PURCHASE', { overpayments: [overpayment], ...fields });
  const back = entry('REFUND', [posting(SURPLUS, 'stripe', '500')], { providerId: 're_2' });

  it('is booked once out of the surplus, and is in the sum of its payment', () => {
    expect(judgeRefunds(withOverpayment(overpaymentOf('500')), [back], [])).toEqual([]);
  });

  it('is found where it was never booked, or twice', () => {
    expect(judgeRefunds(withOverpayment(overpaymentOf('500')), [], [])).toEqual([
      off('refund re_2 by entries', '500', '0', '-500'),
    ]);
    expect(judgeRefunds(withOverpayment(overpaymentOf('500')), [back, back], [])).toEqual([
      off('refund re_2 by entries', '500', '1000', '500'),
    ]);
  });

  it.each(['PENDING', 'FAILED'] as const)('has no entries while it is %s, and is in no sum', (state) => {
    const order = withOverpayment(overpaymentOf('0', state));
    expect(judgeRefunds(order, [], [])).toEqual([]);
    expect(judgeRefunds(order, [back], [])).toEqual([off('refund re_2 by entries', '0', '500', '500')]);
  });

  it('is found where the sum of its payment is another', () => {
    expect(judgeRefunds(withOverpayment(overpaymentOf('400')), [back], [])).toEqual([
      off('surplus pi_2 refunded', '500', '400', '-100'),
    ]);
  });

  it('out of the order’s own money is off on both sides', () => {
    expect(
      judgeRefunds(withOverpayment(overpaymentOf('500')), [given('500', { providerId: 're_2' })], []),
    ).toEqual([
      off('refund re_2 by entries', '0', '500', '500'),
      off('refund re_2 by entries', '500', '0', '-500'),
    ]);
  });

  it('that is kept beside its full order is in the sum of its payment, and in no sum of the order', () => {
    const kept = refunded('re_4', '20', { providerRefundId: 're_4', source: 'DASHBOARD', paymentId: 'pi_2' });
    const overflow = { count: 1, succeeded: decimal('0'), pending: decimal('0') };
    const entries = [back, entry('REFUND', [posting(SURPLUS, 'stripe', '20')], { providerId: 're_4' })];
    expect(judgeRefunds(withOverpayment(overpaymentOf('520'), { overflow }), entries, [kept])).toEqual([]);
    expect(judgeRefunds(withOverpayment(overpaymentOf('500'), { overflow }), entries, [kept])).toEqual([
      off('surplus pi_2 refunded', '520', '500', '-20'),
    ]);
  });

  it('that is kept beside its full order is in the sum of its own payment alone', () => {
    const kept = refunded('re_4', '20', { providerRefundId: 're_4', source: 'DASHBOARD', paymentId: 'pi_2' });
    const other: Overpayment = {
      paymentId: 'pi_3',
      amount: decimal('500'),
      refunded: decimal('0'),
      refunds: [],
    };
    const overflow = { count: 1, succeeded: decimal('0'), pending: decimal('0') };
    const order = withOverpayment(overpaymentOf('520'), {
      overflow,
      overpayments: [overpaymentOf('520'), other],
    });
    const entries = [back, entry('REFUND', [posting(SURPLUS, 'stripe', '20')], { providerId: 're_4' })];
    expect(judgeRefunds(order, entries, [kept])).toEqual([]);
  });
});
