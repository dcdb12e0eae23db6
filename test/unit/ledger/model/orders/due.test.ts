import { describe, expect, it } from 'vitest';
import { dueAtMs, dueShard, sweepDueAtMs } from '../../../../../src/ledger/model/orders/due.ts';
import { decimal } from '../../../../../src/ledger/kernel/money.ts';
import type { Attempt, Lease, Order, Overpayment } from '../../../../../src/ledger/model/orders/order.ts';
import { SAMPLE_AT_MS, sampleOrder, samplePaidOrder } from '../../../../support/sample-orders.ts';

const POLICY = { sweepAfterMs: 1_800_000 };
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const lease: Lease = {
  owner: 'o',
  leaseEndMs: SAMPLE_AT_MS + 30_000,
  request: { principal: 'alice', operation: 'checkout', key: 'k' },
  recordTtlS: 1_907_776_000,
};
const attempt: Attempt = {
  number: 1,
  state: 'OPEN',
  tries: 0,
  successUrl: 'https://shop.example/ok',
  cancelUrl: 'https://shop.example/no',
  paymentMethodTypes: ['card'],
  itemized: false,
  expiresAtMs: SAMPLE_AT_MS + HOUR_MS,
};

function due(patch: Partial<Order>, order = sampleOrder()): number | undefined {
  const at = dueAtMs({ ...order, ...patch }, POLICY);
  return at === undefined ? undefined : at - SAMPLE_AT_MS;
}

describe('when an order needs somebody next', () => {
  it('is never while it only waits for its customer, or when nothing is left', () => {
    expect(due({})).toBeUndefined();
    for (const state of ['FAILED', 'EXPIRED', 'CANCELED', 'CONFIRMED', 'REFUNDED'] as const)
      expect(due({ state })).toBeUndefined();
  });

  it('is the next pending step, or the end of its lease', () => {
    const paid = samplePaidOrder();
    const [step] = paid.steps;
    if (step === undefined) throw new Error('the sample has a step');
    expect(due({}, paid)).toBe(0);
    expect(due({ steps: [{ ...step, nextAttemptAtMs: SAMPLE_AT_MS + 9 }] }, paid)).toBe(9);
    expect(due({ steps: [{ ...step, leaseEndMs: SAMPLE_AT_MS + MINUTE_MS }] }, paid)).toBe(MINUTE_MS);
    const later = { ...step, name: 'later', nextAttemptAtMs: SAMPLE_AT_MS + 50 };
    const sooner = { ...step, name: 'sooner', nextAttemptAtMs: SAMPLE_AT_MS + 20 };
    expect(due({ steps: [later, sooner] }, paid)).toBe(20);
    expect(due({ steps: [{ ...step, state: 'DEAD' }] }, paid)).toBeUndefined();
  });

  it('is at once for a PAID order whose steps are all done', () => {
    const paid = samplePaidOrder();
    expect(due({ steps: [], updatedAtMs: SAMPLE_AT_MS + 3 }, paid)).toBe(3);
  });

  it('is the end of a claim’s lease; without one, the end of its marker', () => {
    expect(due({ attempts: [{ ...attempt, state: 'CLAIMED', lease }] })).toBe(30_000);
    const refundClaims = [{ refundId: 'r', lease }];
    expect(due({ refundClaims, refundCount: 1, pendingRefundCount: 1, state: 'CONFIRMED' })).toBe(30_000);
    const locked = { ...lease, leaseEndMs: undefined };
    expect(due({ attempts: [{ ...attempt, state: 'CLAIMED', lease: locked }] })).toBe(7_776_000_000);
  });

  it('takes a lease that ended at 0 for one that ended, not for one without an end', () => {
    const past = { ...lease, leaseEndMs: 0 };
    expect(
      dueAtMs({ ...sampleOrder(), attempts: [{ ...attempt, state: 'CLAIMED', lease: past }] }, POLICY),
    ).toBe(0);
  });

  it('is a minute after an open session’s end, or the next time to ask about it', () => {
    const open = { state: 'SESSION_CREATED' as const, attempts: [attempt] };
    expect(due(open)).toBe(30 * MINUTE_MS);
    expect(due({ ...open, attempts: [{ ...attempt, expiresAtMs: SAMPLE_AT_MS + 10 * MINUTE_MS }] })).toBe(
      11 * MINUTE_MS,
    );
    const asked = { count: 1, lastAtMs: SAMPLE_AT_MS + 50 * MINUTE_MS };
    expect(due({ ...open, checks: asked })).toBe(61 * MINUTE_MS);
  });

  it('backs off from half an hour to a day while the provider knows nothing new', () => {
    const waiting = { state: 'PENDING_PAYMENT' as const };
    expect(due(waiting)).toBe(30 * MINUTE_MS);
    const after = (count: number): number | undefined =>
      due({ ...waiting, checks: { count, lastAtMs: SAMPLE_AT_MS } });
    expect([1, 2, 3, 5, 6, 40].map(after)).toEqual([
      HOUR_MS,
      2 * HOUR_MS,
      4 * HOUR_MS,
      16 * HOUR_MS,
      DAY_MS,
      DAY_MS,
    ]);
  });

  it('is the next time to ask about a pending refund and an open dispute, not about settled ones', () => {
    const paid = { ...samplePaidOrder(), state: 'CONFIRMED' as const, steps: [] };
    expect(due({ refundCount: 2, pendingRefundCount: 1 }, paid)).toBe(30 * MINUTE_MS);
    expect(due({ refundCount: 2, pendingRefundCount: 0 }, paid)).toBeUndefined();
    // Of two one is asked for by somebody, until its lease ends.
    const refundClaims = [{ refundId: 'r', lease: { ...lease, leaseEndMs: SAMPLE_AT_MS + HOUR_MS } }];
    expect(due({ refundCount: 2, pendingRefundCount: 2, refundClaims }, paid)).toBe(30 * MINUTE_MS);
    expect(due({ refundCount: 2, pendingRefundCount: 1, refundClaims }, paid)).toBe(HOUR_MS);
    const dispute = {
      disputeId: 'd',
      paymentId: 'p',
      amount: decimal('1'),
      recorded: false,
      ofOverpayment: false,
    };
    expect(due({ disputes: [{ ...dispute, status: 'open' }] }, paid)).toBe(30 * MINUTE_MS);
    for (const status of ['inquiry', 'won', 'lost', 'cleared'] as const)
      expect(due({ disputes: [{ ...dispute, status }] }, paid)).toBeUndefined();
  });

  it('is the next time to ask about a refund of a surplus payment, until it is known how it ended', () => {
    const waits = (fields: Partial<Overpayment>): number | undefined => {
      const overpayment = {
        paymentId: 'pi_2',
        amount: decimal('480'),
        refunded: decimal('0'),
        refundCount: 0,
        pendingRefundCount: 0,
        ...fields,
      };
      return due({ overpayments: [overpayment], steps: [], state: 'CONFIRMED' }, samplePaidOrder());
    };
    const all = { refunded: decimal('480') };
    expect(waits({ refundCount: 1, pendingRefundCount: 1 })).toBe(30 * MINUTE_MS);
    expect(waits({ refundCount: 1, pendingRefundCount: 1, asked: 1 })).toBe(30 * MINUTE_MS);
    // Its step isn't done.
    expect(waits({})).toBeUndefined();
    expect(waits({ refundCount: 1 })).toBeUndefined();
    // Its step says how many there are, and nobody told of all of them yet.
    expect(waits({ asked: 1 })).toBe(30 * MINUTE_MS);
    expect(waits({ refundCount: 1, asked: 2 })).toBe(30 * MINUTE_MS);
    expect(waits({ refundCount: 1, refunded: decimal('100'), asked: 2 })).toBe(30 * MINUTE_MS);
    // All were told of, and failed.
    expect(waits({ refundCount: 1, asked: 1 })).toBeUndefined();
    expect(waits({ refundCount: 2, asked: 2 })).toBeUndefined();
    // All of it is back.
    expect(waits({ ...all, refundCount: 1, asked: 1 })).toBeUndefined();
    expect(waits({ ...all, refundCount: 1, asked: 2 })).toBeUndefined();
  });

  it('leaves steps out of what the sweeper waits for', () => {
    expect(sweepDueAtMs(samplePaidOrder(), POLICY)).toBeUndefined();
    const waiting = { ...samplePaidOrder(), refundCount: 1, pendingRefundCount: 1 };
    expect(sweepDueAtMs(waiting, POLICY)).toBe(SAMPLE_AT_MS + 30 * MINUTE_MS);
  });
});

describe('the shards of the due index', () => {
  it('come from the id’s last character, all eight of them', () => {
    const shards = Array.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (last) =>
      dueShard({ orderId: `01H${last}` }),
    );
    expect(shards.slice(0, 9)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '0']);
    for (const shard of ['0', '1', '2', '3', '4', '5', '6', '7'])
      expect(shards.filter((one) => one === shard)).toHaveLength(4);
  });
});
