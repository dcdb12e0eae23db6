import { describe, expect, it } from 'vitest';
import { judgeDisputes, judgeOverpayments } from '../../../../src/ledger/audit/audit-disputes.ts';
import type { Entry } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { Dispute, Order } from '../../../../src/ledger/model/orders/order.ts';
import { SURPLUS, entry, off, paid, posting, wrong } from './audited.ts';

const dispute = (fields: Partial<Dispute> = {}): Dispute => ({
  disputeId: 'du_1',
  paymentId: 'pi_1',
  status: 'lost',
  amount: decimal('500'),
  recorded: true,
  ofOverpayment: false,
  ...fields,
});
const disputed = (...disputes: readonly Dispute[]): Order => paid('CHECKOUT', 'PURCHASE', { disputes });
const lost = (from = 'merchant:cafe', providerId = 'du_1'): Entry =>
  entry('DISPUTE', [posting(from, 'stripe', '500')], { providerId });
const back = entry('DISPUTE', [posting('stripe', 'merchant:cafe', '500')], { providerId: 'du_1' });

describe('a dispute', () => {
  it('that is lost is booked once', () => {
    expect(judgeDisputes(disputed(dispute()), [lost()])).toEqual([]);
  });

  it('that is lost is found where it was never booked, or twice', () => {
    expect(judgeDisputes(disputed(dispute()), [])).toEqual([
      off('dispute du_1 by entries', '500', '0', '-500'),
    ]);
    expect(judgeDisputes(disputed(dispute()), [lost(), lost()])).toEqual([
      off('dispute du_1 by entries', '500', '1000', '500'),
    ]);
  });

  it('that was won after it was lost comes to nothing', () => {
    const won = disputed(dispute({ status: 'won', recorded: false }));
    expect(judgeDisputes(won, [lost(), back])).toEqual([]);
    expect(judgeDisputes(won, [lost()])).toEqual([off('dispute du_1 by entries', '0', '500', '500')]);
  });

  it.each([
    ['inquiry', true, true],
    ['open', true, true],
    ['lost', true, false],
    ['won', false, true],
    ['cleared', false, true],
  ] as const)('that is %s may be booked: %s, and not booked: %s', (status, mayBeRecorded, mayBeUnbooked) => {
    expect(judgeDisputes(disputed(dispute({ status, recorded: true })), [lost()])).toEqual(
      mayBeRecorded ? [] : [wrong('dispute du_1', 'not booked', 'booked')],
    );
    expect(judgeDisputes(disputed(dispute({ status, recorded: false })), [])).toEqual(
      mayBeUnbooked ? [] : [wrong('dispute du_1', 'booked', 'not booked')],
    );
  });

  it('is known to the order where an entry is of it', () => {
    expect(judgeDisputes(disputed(dispute()), [lost(), lost('merchant:cafe', 'du_9')])).toEqual([
      off('dispute du_9 by entries', '0', '500', '500'),
    ]);
  });

  it('is kept once', () => {
    expect(judgeDisputes(disputed(dispute(), dispute()), [lost()])).toEqual([
      wrong('dispute du_1', 'kept once', '2 times'),
    ]);
  });

  it('is booked by disputes’ entries alone', () => {
    const refund = entry('REFUND', [posting('merchant:cafe', 'stripe', '500')], { providerId: 're_1' });
    expect(judgeDisputes(disputed(), [refund])).toEqual([]);
  });

  it('of a surplus payment is booked out of the surplus', () => {
    const order = disputed(dispute({ disputeId: 'du_2', paymentId: 'pi_2', ofOverpayment: true }));
    expect(judgeDisputes(order, [lost(SURPLUS, 'du_2')])).toEqual([]);
    expect(judgeDisputes(order, [])).toEqual([off('dispute du_2 by entries', '500', '0', '-500')]);
  });

  it('of the order’s own payment that is booked out of the surplus is off on both sides', () => {
    expect(judgeDisputes(disputed(dispute()), [lost(SURPLUS)])).toEqual([
      off('dispute du_1 by entries', '500', '0', '-500'),
      off('dispute du_1 by entries', '0', '500', '500'),
    ]);
  });
});

describe('a surplus payment', () => {
  const overpayment = {
    paymentId: 'pi_2',
    amount: decimal('500'),
    refunded: decimal('0'),
    refundCount: 0,
    pendingRefundCount: 0,
  };
  const order = paid('CHECKOUT', 'PURCHASE', { overpayments: [overpayment] });
  const arrived = (providerId: string): Entry =>
    entry('SURPLUS', [posting('stripe', SURPLUS, '500')], { providerId });

  it('is booked once, as it arrives', () => {
    expect(judgeOverpayments(order, [arrived('pi_2')])).toEqual([]);
  });

  it('is found where it was never booked, or twice', () => {
    expect(judgeOverpayments(order, [])).toEqual([
      off('surplus payment pi_2 by entries', '500', '0', '-500'),
    ]);
    expect(judgeOverpayments(order, [arrived('pi_2'), arrived('pi_2')])).toEqual([
      off('surplus payment pi_2 by entries', '500', '1000', '500'),
    ]);
  });

  it('is known to the order where an entry is of it', () => {
    expect(judgeOverpayments(paid('CHECKOUT'), [arrived('pi_9')])).toEqual([
      off('surplus payment pi_9 by entries', '0', '500', '500'),
    ]);
  });

  it('is kept once', () => {
    expect(
      judgeOverpayments({ ...order, overpayments: [overpayment, overpayment] }, [arrived('pi_2')]),
    ).toEqual([wrong('surplus payment pi_2', 'kept once', '2 times')]);
  });

  it('has arrived by its own entry alone: what is given back of it counts elsewhere', () => {
    const refunded = entry('REFUND', [posting(SURPLUS, 'stripe', '500')], { providerId: 're_2' });
    expect(judgeOverpayments(order, [arrived('pi_2'), refunded])).toEqual([]);
  });
});
