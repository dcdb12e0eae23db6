import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, decimal, plainDecimal } from '../../../../../src/ledger/kernel/money.ts';
import {
  creditReceivableThenWallet,
  debitWalletOrReceivable,
} from '../../../../../src/ledger/model/orders/postings.ts';
import type { Lease, Order } from '../../../../../src/ledger/model/orders/order.ts';
import {
  awaitRefund,
  beginRefund,
  completeRefundSynchronously,
  failRefund,
  refundObjection,
  succeedRefund,
} from '../../../../../src/ledger/model/orders/refunds.ts';
import { rewardFor, rewardTakenBack } from '../../../../../src/ledger/model/orders/rewards.ts';
import {
  SAMPLE_AT_MS,
  sampleOrder,
  samplePaidOrder,
  sampleRefund,
} from '../../../../support/sample-orders.ts';

const what = { actor: 'cafe-office', atMs: SAMPLE_AT_MS + 1 };
const NO_STEPS: readonly string[] = [];

function amountsOf({ refundable, refunded, refundPending }: Order): readonly string[] {
  return [refundable, refunded, refundPending].map(plainDecimal);
}

describe('why a refund can’t be made', () => {
  const paid = samplePaidOrder();

  it('is the order’s state, a dispute, the amount or the number of refunds', () => {
    expect(refundObjection(paid, undefined)).toBeUndefined();
    expect(refundObjection(paid, decimal('480'))).toBeUndefined();
    expect(refundObjection(paid, decimal('481'))).toBe('EXCEEDS');
    expect(refundObjection(sampleOrder(), decimal('1'))).toBe('NOT_REFUNDABLE');
    expect(refundObjection({ ...paid, state: 'REFUNDED' }, decimal('1'))).toBe('NOT_REFUNDABLE');
    expect(refundObjection({ ...paid, refundable: decimal('0') }, undefined)).toBe('EXCEEDS');
    expect(refundObjection({ ...paid, refundable: decimal('-5') }, undefined)).toBe('EXCEEDS');
    expect(refundObjection({ ...paid, refundCount: 100 }, decimal('1'))).toBe('TOO_MANY');
    expect(refundObjection({ ...paid, refundCount: 99 }, decimal('1'))).toBeUndefined();
  });

  it('is a dispute that is open or lost, of the order’s own payment', () => {
    const dispute = {
      disputeId: 'd',
      paymentId: 'p',
      amount: decimal('1'),
      recorded: false,
      ofOverpayment: false,
    };
    const objection = (
      status: 'inquiry' | 'open' | 'lost' | 'won' | 'cleared',
      ofOverpayment = false,
    ): unknown =>
      refundObjection({ ...paid, disputes: [{ ...dispute, status, ofOverpayment }] }, decimal('1'));
    expect(objection('open')).toBe('DISPUTED');
    expect(objection('lost')).toBe('DISPUTED');
    for (const status of ['inquiry', 'won', 'cleared'] as const) expect(objection(status)).toBeUndefined();
    expect(objection('open', true)).toBeUndefined();
  });
});

/** What the order counts of its refunds: all, those that are pending, and those that somebody asks for. */
function countsOf({ refundCount, pendingRefundCount, refundClaims }: Order): readonly number[] {
  return [refundCount, pendingRefundCount, refundClaims.length];
}

const lease: Lease = {
  owner: 'o',
  leaseEndMs: SAMPLE_AT_MS + 30_000,
  request: { principal: 'alice', operation: 'refund', key: 'k' },
  recordTtlS: 1_907_776_000,
};

describe('a refund', () => {
  it('that is done at once closes the order with the last of it', () => {
    const once = completeRefundSynchronously(samplePaidOrder(), sampleRefund('a', '200'), NO_STEPS, what);
    expect([once.order.state, ...amountsOf(once.order)]).toEqual(['PAID', '280', '200', '0']);
    expect([once.refund.refundId, once.refund.state]).toEqual(['a', 'SUCCEEDED']);
    const twice = completeRefundSynchronously(once.order, sampleRefund('b', '280'), NO_STEPS, what);
    expect([twice.order.state, ...amountsOf(twice.order)]).toEqual(['REFUNDED', '0', '480', '0']);
    expect([twice.refund.refundId, twice.refund.state]).toEqual(['b', 'SUCCEEDED']);
    expect(countsOf(twice.order)).toEqual([2, 0, 0]);
    expect(twice.order.version).toBe(4);
  });

  it('that is pending holds its amount, and closes the order only when it succeeds', () => {
    const begun = beginRefund(samplePaidOrder(), sampleRefund('a', '480'), what, lease);
    expect([begun.order.state, ...amountsOf(begun.order)]).toEqual(['PAID', '0', '0', '480']);
    expect(begun.order.refundClaims).toEqual([{ refundId: 'a', lease }]);
    expect(countsOf(begun.order)).toEqual([1, 1, 1]);
    expect(refundObjection(begun.order, decimal('1'))).toBe('EXCEEDS');
    const waiting = awaitRefund(begun.order, begun.refund, 're_1', SAMPLE_AT_MS + 2);
    expect(waiting.refund.providerRefundId).toBe('re_1');
    expect(countsOf(waiting.order)).toEqual([1, 1, 0]);
    const done = succeedRefund(waiting.order, waiting.refund, {}, NO_STEPS, what);
    expect([done.order.state, ...amountsOf(done.order)]).toEqual(['REFUNDED', '0', '480', '0']);
    expect(countsOf(done.order)).toEqual([1, 0, 0]);
    expect(() => succeedRefund(done.order, done.refund, {}, NO_STEPS, what)).toThrow(RangeError);
  });

  it('that is settled while somebody still asks for it is nobody’s to ask for any more', () => {
    const begun = beginRefund(samplePaidOrder(), sampleRefund('a', '480'), what, lease);
    expect(countsOf(succeedRefund(begun.order, begun.refund, {}, NO_STEPS, what).order)).toEqual([1, 0, 0]);
    expect(countsOf(failRefund(begun.order, begun.refund, {}, NO_STEPS, what).order)).toEqual([1, 0, 0]);
  });

  it('that fails gives its amount back once, also after it had succeeded', () => {
    const { order, refund } = beginRefund(samplePaidOrder(), sampleRefund('a', '480'), what);
    const failed = failRefund(order, refund, { failureReason: 'expired' }, NO_STEPS, what);
    expect([failed.order.state, ...amountsOf(failed.order)]).toEqual(['PAID', '480', '0', '0']);
    expect(() => failRefund(failed.order, failed.refund, {}, NO_STEPS, what)).toThrow(RangeError);

    const done = succeedRefund(order, refund, {}, NO_STEPS, what);
    const undone = failRefund(done.order, done.refund, {}, NO_STEPS, what);
    expect([undone.order.state, ...amountsOf(undone.order)]).toEqual(['PAID', '480', '0', '0']);
    expect([undone.refund.state, ...countsOf(undone.order)]).toEqual(['FAILED', 1, 0, 0]);
    const steps = done.order.steps.map((step) => ({ ...step, state: 'DONE' as const }));
    expect(failRefund({ ...done.order, steps }, done.refund, {}, NO_STEPS, what).order.state).toBe(
      'CONFIRMED',
    );
  });
});

describe('what a charge gives beside the goods', () => {
  const rates = { pointRate: decimal('0.01'), pointScale: 0, co2KgRate: decimal('0.01') };

  it('is points rounded down and CO2 as the rate says', () => {
    const { points, co2Kg } = rewardFor(decimal('480'), rates);
    expect([plainDecimal(points), plainDecimal(co2Kg)]).toEqual(['4', '4.8']);
    const nothing = rewardFor(decimal('99'), { pointScale: 0 });
    expect([plainDecimal(nothing.points), plainDecimal(nothing.co2Kg)]).toEqual(['0', '0']);
  });

  it('is taken back by refunds in parts exactly as by one in full, never more than was given', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 8 }),
        (amount, parts) => {
          const reward = rewardFor(decimal(String(amount)), rates);
          let order = samplePaidOrder(String(amount), {
            points: plainDecimal(reward.points),
            co2Kg: plainDecimal(reward.co2Kg),
          });
          const taken: { points: string; co2Kg: string }[] = [];
          for (const part of [...parts, amount]) {
            const left = order.refundable.toNumber();
            const back = decimal(String(Math.min(part, left)));
            if (back.isZero()) break;
            const { points, co2Kg } = rewardTakenBack(order, back, 0);
            expect(points.isNegative() || co2Kg.isNegative()).toBe(false);
            taken.push({ points: plainDecimal(points), co2Kg: plainDecimal(co2Kg) });
            const refund = sampleRefund(String(taken.length), plainDecimal(back));
            order = completeRefundSynchronously(order, refund, NO_STEPS, what).order;
          }
          expect(order.state).toBe('REFUNDED');
          expect(plainDecimal(add(...taken.map(({ points }) => decimal(points))))).toBe(
            plainDecimal(reward.points),
          );
          expect(plainDecimal(add(...taken.map(({ co2Kg }) => decimal(co2Kg))))).toBe(
            plainDecimal(reward.co2Kg),
          );
        },
      ),
    );
  });
});

describe('value that is taken as a fact', () => {
  const take = (balance: string): ReturnType<typeof debitWalletOrReceivable> =>
    debitWalletOrReceivable('alice', 'ECOPAY', decimal('10'), decimal(balance), 'stripe');
  const moves = (taking: ReturnType<typeof debitWalletOrReceivable>): unknown =>
    taking.postings.map(({ debit, credit, amount }) => [debit, credit, plainDecimal(amount)]);

  it('comes from the wallet where it is there', () => {
    expect(moves(take('10'))).toEqual([['wallet:alice', 'stripe', '10']]);
    expect(take('10').guards).toEqual({});
    expect(plainDecimal(take('10').shortfall)).toBe('0');
  });

  it('comes from receivable where it is spent, and holds the wallet to what was read', () => {
    const taking = take('4');
    expect(moves(taking)).toEqual([
      ['wallet:alice', 'stripe', '4'],
      ['receivable:alice', 'stripe', '6'],
    ]);
    expect(taking.guards).toEqual({ ECOPAY: { kind: 'EXACTLY', read: decimal('4') } });
    expect(plainDecimal(taking.shortfall)).toBe('6');
    expect(moves(take('0'))).toEqual([['receivable:alice', 'stripe', '10']]);
    expect(take('0').guards).toEqual({ ECOPAY: { kind: 'EXACTLY', read: decimal('0') } });
  });

  it('is paid first by whatever puts value back', () => {
    const order = { ...samplePaidOrder(), receivable: decimal('6') };
    const back = (amount: string): unknown => {
      const { postings, receivable } = creditReceivableThenWallet(order, 'ECOPAY', decimal(amount), 'stripe');
      return [
        postings.map(({ credit, amount: part }) => [credit, plainDecimal(part)]),
        plainDecimal(receivable),
      ];
    };
    expect(back('10')).toEqual([
      [
        ['receivable:alice', '6'],
        ['wallet:alice', '4'],
      ],
      '0',
    ]);
    expect(back('5')).toEqual([[['receivable:alice', '5']], '1']);
  });
});
