import { describe, expect, it } from 'vitest';
import { isOut, judgeRefunds } from '../../../../src/ledger/audit/audit-refunds.ts';
import { type Entry, type Posting, postings, reversed } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { Order, Refund, Overpayment } from '../../../../src/ledger/model/orders/order.ts';
import { SURPLUS, counts, entry, off, paid, posting, refunded, wrong } from './audited.ts';

const given = (amount: string, ids: Pick<Entry, 'refundId' | 'providerId'>): Entry =>
  entry('REFUND', [posting('merchant:cafe', 'stripe', amount)], ids);
/** Judges an order that counts these refunds, and what it has of them. */
const judge = (refunds: readonly Refund[], entries: readonly Entry[]): unknown =>
  judgeRefunds(paid('CHECKOUT', 'PURCHASE', counts(...refunds)), entries, refunds);

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
    expect(judge([RF_1, reported], [OUT, given('30', { providerId: 're_2' })])).toEqual([]);
  });

  it('is found where it was never booked, or twice', () => {
    expect(judge([RF_1], [])).toEqual([off('refund rf_1 by entries', '100', '0', '-100')]);
    expect(judge([RF_1], [OUT, OUT])).toEqual([off('refund rf_1 by entries', '100', '200', '100')]);
  });

  it.each(['PENDING', 'FAILED'] as const)('has no entries while it is %s', (state) => {
    expect(judge([{ ...RF_1, state }], [])).toEqual([]);
    expect(judge([{ ...RF_1, state }], [OUT])).toEqual([off('refund rf_1 by entries', '0', '100', '100')]);
  });

  it('that failed after all has entries that come to nothing', () => {
    const back = entry('REFUND', [posting('stripe', 'merchant:cafe', '100')], { refundId: 'rf_1' });
    expect(judge([{ ...RF_1, state: 'FAILED' }], [OUT, back])).toEqual([]);
  });

  it('is known to the order where an entry is of it', () => {
    expect(judge([RF_1], [OUT, given('5', { providerId: 're_9' })])).toEqual([
      off('refund re_9 by entries', '0', '5', '5'),
    ]);
  });

  it('is kept once, by the id of the provider too', () => {
    const again = refunded('rf_2', '7', { providerRefundId: 're_1' });
    const entries = [OUT, given('7', { refundId: 'rf_2' })];
    expect(judge([RF_1, again], entries)).toEqual([wrong('refund re_1', 'kept once', '2 times')]);
  });

  it('is booked by refunds’ entries alone', () => {
    const dispute = entry('DISPUTE', [posting('merchant:cafe', 'stripe', '100')], { providerId: 'du_1' });
    expect(judge([], [dispute])).toEqual([]);
  });

  it('of a top-up takes from the wallet, and from what the account owes', () => {
    const order = paid('CHECKOUT', 'TOP_UP', counts(RF_1));
    const taken = [
      posting('wallet:alice', 'stripe', '60', 'ECOPAY'),
      posting('receivable:alice', 'stripe', '40', 'ECOPAY'),
    ];
    expect(judgeRefunds(order, [entry('REFUND', taken, { refundId: 'rf_1' })], [RF_1])).toEqual([]);
  });
});

describe('a refund of a top-up that never happened', () => {
  const RF_2 = '01HZY3V9QK7F0B6W8N4T2D5XR2';
  const failed: Refund = { ...RF_1, refundId: RF_2, state: 'FAILED' };
  const took = (refundId: string, wallet: string, receivable = '0'): Entry =>
    entry('REFUND', postings(...moves(wallet, receivable)), { refundId });
  const gave = (refundId: string, wallet: string, receivable = '0'): Entry =>
    entry('REFUND', reversed(postings(...moves(wallet, receivable))), { refundId });
  const moves = (wallet: string, receivable: string): readonly Posting[] => [
    posting('wallet:alice', 'stripe', wallet, 'ECOPAY'),
    posting('receivable:alice', 'stripe', receivable, 'ECOPAY'),
  ];
  const judgeOf = (refund: Refund | undefined, ...entries: readonly Entry[]): unknown => {
    const refunds = refund === undefined ? [] : [refund];
    return judgeRefunds(paid('CHECKOUT', 'TOP_UP', counts(...refunds)), entries, refunds);
  };

  it('gave back what it took, or less of what is owed where that was paid meanwhile', () => {
    expect(judgeOf(failed, took(RF_2, '100'), gave(RF_2, '100'))).toEqual([]);
    expect(judgeOf(failed, took(RF_2, '60', '40'), gave(RF_2, '60', '40'))).toEqual([]);
    expect(judgeOf(failed, took(RF_2, '60', '40'), gave(RF_2, '90', '10'))).toEqual([]);
  });

  it('is found where it paid a debt, also where it is kept no more', () => {
    const found = [off(`refund ${RF_2} debt paid`, '0', '30', '30')];
    expect(judgeOf(failed, took(RF_2, '100'), gave(RF_2, '70', '30'))).toEqual(found);
    expect(judgeOf(undefined, took(RF_2, '100'), gave(RF_2, '70', '30'))).toEqual(found);
  });

  it('and that was made in the dashboard pays what is owed', () => {
    const made: Refund = { ...failed, refundId: 're_1', source: 'DASHBOARD' };
    expect(judgeOf(made, took('re_1', '100'), gave('re_1', '70', '30'))).toEqual([]);
  });
});

describe('what an order counts of its refunds', () => {
  const PENDING: Refund = { ...RF_1, state: 'PENDING' };
  const lease = {
    owner: 'o',
    request: { principal: 'p', operation: 'refund', key: 'k' },
    recordTtlS: 2,
  };

  it('is as many as there are, and as many that are pending', () => {
    const order = (refundCount: number, pendingRefundCount: number): Order =>
      paid('CHECKOUT', 'PURCHASE', { refundCount, pendingRefundCount });
    expect(judgeRefunds(order(1, 0), [OUT], [RF_1])).toEqual([]);
    expect(judgeRefunds(order(2, 1), [OUT], [RF_1])).toEqual([
      wrong('refunds', '1', '2'),
      wrong('refunds pending', '0', '1'),
    ]);
    expect(judgeRefunds(order(0, 0), [], [PENDING])).toEqual([
      wrong('refunds', '1', '0'),
      wrong('refunds pending', '1', '0'),
    ]);
  });

  it('is claimed only while it is pending', () => {
    const refundClaims = [{ refundId: 'rf_1', lease }];
    const claiming = (...refunds: readonly Refund[]): Order =>
      paid('CHECKOUT', 'PURCHASE', { ...counts(...refunds), refundClaims });
    expect(judgeRefunds(claiming(PENDING), [], [PENDING])).toEqual([]);
    expect(judgeRefunds(claiming(RF_1), [OUT], [RF_1])).toEqual([
      wrong('claimed refund rf_1', 'PENDING', 'SUCCEEDED'),
    ]);
    expect(judgeRefunds(claiming(), [], [])).toEqual([wrong('claimed refund rf_1', 'PENDING', 'none')]);
  });
});

describe('a refund of a surplus payment', () => {
  const RE_2 = refunded('re_2', '500', { providerRefundId: 're_2', source: 'DASHBOARD', paymentId: 'pi_2' });
  const overpaymentOf = (refundedSum: string, ...refunds: readonly Refund[]): Overpayment => ({
    paymentId: 'pi_2',
    amount: decimal('500'),
    refunded: decimal(refundedSum),
    ...counts(...refunds),
  });
  /** Judges an order with this overpayment, which has been given back so far as `sum` says. */
  const judgeOf = (sum: string, refunds: readonly Refund[], entries: readonly Entry[]): unknown =>
    judgeRefunds(
      paid('CHECKOUT', 'PURCHASE', { overpayments: [overpaymentOf(sum, ...refunds)] }),
      entries,
      refunds,
    );
  const back = entry('REFUND', [posting(SURPLUS, 'stripe', '500')], { providerId: 're_2' });

  it('is booked once out of the surplus, and is in the sum of its payment', () => {
    expect(judgeOf('500', [RE_2], [back])).toEqual([]);
  });

  it('is found where it was never booked, or twice', () => {
    expect(judgeOf('500', [RE_2], [])).toEqual([off('refund re_2 by entries', '500', '0', '-500')]);
    expect(judgeOf('500', [RE_2], [back, back])).toEqual([
      off('refund re_2 by entries', '500', '1000', '500'),
    ]);
  });

  it.each(['PENDING', 'FAILED'] as const)('has no entries while it is %s, and is in no sum', (state) => {
    expect(judgeOf('0', [{ ...RE_2, state }], [])).toEqual([]);
    expect(judgeOf('0', [{ ...RE_2, state }], [back])).toEqual([
      off('refund re_2 by entries', '0', '500', '500'),
    ]);
  });

  it('is found where the sum of its payment, or their number, is another', () => {
    expect(judgeOf('400', [RE_2], [back])).toEqual([off('surplus pi_2 refunded', '500', '400', '-100')]);
    const order = paid('CHECKOUT', 'PURCHASE', { overpayments: [overpaymentOf('500')] });
    expect(judgeRefunds(order, [back], [RE_2])).toEqual([wrong('surplus pi_2 refunded times', '1', '0')]);
  });

  it('out of the order’s own money is off on both sides', () => {
    expect(judgeOf('500', [RE_2], [given('500', { providerId: 're_2' })])).toEqual([
      off('refund re_2 by entries', '0', '500', '500'),
      off('refund re_2 by entries', '500', '0', '-500'),
    ]);
  });

  it('is in the sum of its own payment alone, and in no sum of the order', () => {
    const other: Overpayment = { ...overpaymentOf('0'), paymentId: 'pi_3' };
    const overpayments = [overpaymentOf('500', RE_2), other];
    expect(judgeRefunds(paid('CHECKOUT', 'PURCHASE', { overpayments }), [back], [RE_2])).toEqual([]);
  });
});
