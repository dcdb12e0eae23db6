import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../../../src/ledger/kernel/attributes.ts';
import { type Decimal, ZERO, decimal, plainDecimal } from '../../../../../src/ledger/kernel/money.ts';
import { move, newTransitions, note } from '../../../../../src/ledger/model/orders/order-changes.ts';
import { orderAttributes } from '../../../../../src/ledger/items/order-item.ts';
import { hasRoomForAttempt, isFull, orderBytes } from '../../../../../src/ledger/model/orders/order-size.ts';
import { payableWith } from '../../../../../src/ledger/model/orders/order-view.ts';
import type { Lease, Order, OrderLine, Refund } from '../../../../../src/ledger/model/orders/order.ts';
import { beginRefund, refundObjection } from '../../../../../src/ledger/model/orders/refunds.ts';
import { claimDueSteps, failStep } from '../../../../../src/ledger/model/orders/steps.ts';
import { claimAttempt, openSession } from '../../../../../src/ledger/model/provider/attempts.ts';
import { type DisputeDetails, decideDispute } from '../../../../../src/ledger/model/provider/disputes.ts';
import type {
  OrderUpdate,
  UpdateDecision,
  DecisionContext,
} from '../../../../../src/ledger/model/provider/update-decision.ts';
import { receivePayment } from '../../../../../src/ledger/model/provider/payments.ts';
import { type RefundDetails, decideRefund } from '../../../../../src/ledger/model/provider/refunds.ts';
import { decideOverpaymentRefund } from '../../../../../src/ledger/model/provider/overpayments.ts';
import { applyAttemptOutcome } from '../../../../../src/ledger/model/provider/attempt-outcomes.ts';
import { decideWithOverflow } from '../../../../../src/ledger/model/provider/overflow-refunds.ts';
import { itemBytes } from '../../../../support/item-bytes.ts';
import { openedOrder, anyOrder } from '../../../../support/sample-orders.ts';

/** What the table takes in one item, and what has to stay free of it. */
const MOST_BYTES = 400 * 1024;
const SPARE_BYTES = 100 * 1024;

const AT_MS = 1_900_000_000_000;
const POLICY = { sweepAfterMs: 1_800_000 };
const AMOUNT = decimal('99999999');
/** An id of this platform, and one of the provider's, at their longest. */
const LONGEST_ID = 128;
const LONGEST_PROVIDER_ID = 255;
const LONG_TEXT = '三'.repeat(200);
const FOLLOW_UPS = ['a', 'b'].map((name) => name.repeat(64));

const context: DecisionContext = {
  atMs: AT_MS,
  entryId: '01HZY3V9QK7F0B6W8N4T2D5XCN',
  stepNames: {
    afterPaid: () => FOLLOW_UPS.map((name) => `${name}:paid`),
    afterRefund: (_order, id) => FOLLOW_UPS.map((name) => `${name}:refunded:${id}`),
    afterDispute: (_order, id) => FOLLOW_UPS.map((name) => `${name}:disputed:${id}`),
  },
};

function idOf(name: string, length: number, number = 0): string {
  return `${name}${String(number)}`.padEnd(length, 'x');
}

function providerId(name: string, number: number): string {
  return idOf(name, LONGEST_PROVIDER_ID, number);
}

const WORST_LINES: readonly OrderLine[] = Array.from({ length: 99 }, (_, number) => ({
  sku: idOf('sku', LONGEST_ID, number),
  name: LONG_TEXT,
  quantity: 9_999,
  unitPrice: decimal('999999.99'),
  amount: decimal('9998999999.01'),
}));

function opened(lines: readonly OrderLine[]): Order {
  return openedOrder({
    tenant: idOf('tenant', LONGEST_ID),
    accountId: idOf('account', LONGEST_ID),
    merchantId: idOf('merchant', LONGEST_ID),
    amount: AMOUNT,
    consented: true,
    lines,
    actor: idOf('actor', LONGEST_ID),
    atMs: AT_MS,
  });
}

function leaseOf(operation: string, number: number): Lease {
  return {
    owner: `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`,
    leaseEndMs: AT_MS + 30_000,
    request: { principal: idOf('p', LONGEST_ID), operation, key: idOf('key', 255, number) },
    recordTtlS: 1_907_776_000,
  };
}

function urlOf(length: number): string {
  return 'https://shop.example/'.padEnd(length, 'u');
}

function wireBytes(order: Order): number {
  return itemBytes(toAttributes(orderAttributes(order, POLICY)));
}

/** An order whose largest size is written down. */
class Growing {
  largest = 0;
  private estimated = 0;
  order: Order;
  constructor(order: Order) {
    this.order = order;
    this.become(order);
  }

  become(order: Order): void {
    this.order = order;
    // What is estimated smaller than before isn't measured anew.
    if (orderBytes(order) <= this.estimated) return;
    this.estimated = orderBytes(order);
    this.largest = Math.max(this.largest, wireBytes(order));
  }

  apply(decide: (order: Order) => UpdateDecision | { readonly kind: 'ASK' }): OrderUpdate | undefined {
    const decision = decide(this.order);
    if (decision.kind !== 'CHANGE') return undefined;
    this.become(decision.after);
    return decision;
  }
}

/** Checks the order out for as long as that is taken, every attempt with a voucher, declined cards and no end of time. */
function checkOutAll(growing: Growing): number {
  let made = 0;
  while (hasRoomForAttempt(growing.order)) {
    made += 1;
    const terms = {
      successUrl: urlOf(2_048),
      cancelUrl: urlOf(2_048),
      paymentMethodTypes: ['card', 'konbini', 'customer_balance'],
    };
    growing.become(claimAttempt(growing.order, terms, leaseOf('checkout', made), AT_MS));
    const session = { sessionId: providerId('cs_', made), url: urlOf(4_096), expiresAtMs: AT_MS + 3_600_000 };
    const current = () => growing.order.attempts.at(-1) ?? expect.fail('no attempt');
    const actor = idOf('actor', LONGEST_ID);
    growing.become(openSession(growing.order, current(), session, { actor, atMs: AT_MS }));
    growing.apply((order) =>
      applyAttemptOutcome(
        order,
        current(),
        { kind: 'DECLINED', declineCode: 'd'.repeat(64) },
        { closed: false },
        context,
      ),
    );
    const voucher = { url: urlOf(4_096), expiresAtMs: AT_MS + 86_400_000 };
    growing.apply((order) =>
      applyAttemptOutcome(order, current(), { kind: 'WAITING', voucher }, { closed: false }, context),
    );
    growing.apply((order) =>
      applyAttemptOutcome(
        order,
        current(),
        { kind: 'FAILED', reason: 'r'.repeat(64) },
        { closed: true },
        context,
      ),
    );
  }
  return made;
}

function payAll(growing: Growing): void {
  for (const { number } of growing.order.attempts) {
    growing.apply((order) => {
      const attempt = order.attempts.find((one) => one.number === number) ?? expect.fail('no attempt');
      return receivePayment(order, { attempt, paymentId: providerId('pi_', number) }, context);
    });
  }
}

/** Every step has run once, without success. */
function failSteps(growing: Growing): void {
  const policy = { leaseMs: 60_000, maxAttempts: 18, firstRetryMs: 1_000, maxRetryMs: 21_600_000 };
  const owner = '00000000-0000-4000-8000-000000000001';
  growing.become(claimDueSteps(growing.order, owner, policy, AT_MS) ?? growing.order);
  for (const { name } of growing.order.steps) {
    const failure = { kind: 'RETRY', reason: 'e'.repeat(200) } as const;
    growing.become(failStep(growing.order, name, owner, failure, policy, AT_MS, 1) ?? growing.order);
  }
  growing.become(claimDueSteps(growing.order, owner, policy, AT_MS + 86_400_000) ?? growing.order);
}

/** Asks for refunds of one yen for as long as that is taken, then has every one of them made. */
function refundAll(growing: Growing): number {
  let made = 0;
  const amount = decimal('1');
  while (refundObjection(growing.order, amount) === undefined) {
    made += 1;
    const refund = {
      refundId: `01HZY3V9QK7F0B6W8N4T2D${String(made).padStart(4, '0')}`,
      amount,
      state: 'PENDING',
      source: 'REQUESTED',
      reason: LONG_TEXT,
      actor: idOf('actor', LONGEST_ID),
      createdAtMs: AT_MS,
      tries: 0,
      paymentId: providerId('pi_', 1),
      lease: leaseOf('refund', made),
    } as const;
    growing.become(beginRefund(growing.order, refund, { actor: refund.actor, atMs: AT_MS }));
  }
  for (const { refundId } of growing.order.refunds) {
    const reported = refundTold(
      providerId('re_own', Number.parseInt(refundId.slice(-4), 10)),
      'SUCCEEDED',
      amount,
    );
    growing.apply((order) => decideRefund(order, { ...reported, refundId }, ZERO, context));
  }
  return made;
}

function refundTold(providerRefundId: string, state: Refund['state'], amount: Decimal): RefundDetails {
  const amountMinor = Number.parseInt(plainDecimal(amount), 10);
  return {
    providerRefundId,
    paymentId: providerId('pi_', 1),
    state,
    amountMinor,
    currency: 'JPY',
    failureReason: 'f'.repeat(64),
  };
}

/** Refunds made at the provider: of each payment many, of one yen; some fail after they had succeeded. */
function refundInDashboard(growing: Growing, count: number): void {
  for (let number = 0; number < count; number += 1) {
    const reported = refundTold(providerId('re_dash', number), 'SUCCEEDED', decimal('1'));
    const first = growing.apply((order) =>
      decideWithOverflow(order, reported, undefined, (whole) => decideRefund(whole, reported, ZERO, context)),
    );
    const failed = { ...reported, state: 'FAILED' } as const;
    if (number % 2 === 0)
      growing.apply((order) =>
        decideWithOverflow(order, failed, first?.overflow, (whole) =>
          decideRefund(whole, failed, ZERO, context),
        ),
      );
    const overpayment = growing.order.overpayments[number % Math.max(growing.order.overpayments.length, 1)];
    if (overpayment === undefined) continue;
    const ofOverpayment = {
      ...refundTold(providerId('re_surplus', number), 'SUCCEEDED', decimal('1')),
      paymentId: overpayment.paymentId,
    };
    growing.apply((order) => decideOverpaymentRefund(order, ofOverpayment, undefined, context));
  }
}

/** A dispute of every payment, through all that may become of it. */
function disputeAll(growing: Growing): void {
  const payments = growing.order.attempts.length;
  for (let number = 0; number < payments; number += 1) {
    for (const status of ['inquiry', 'open', 'lost', 'won'] as const) {
      const reported = disputeTold(providerId('dp_', number), number, status);
      growing.apply((order) => decideDispute(order, reported, ZERO, true, context));
    }
  }
}

function disputeTold(disputeId: string, payment: number, status: DisputeDetails['status']): DisputeDetails {
  const paymentId = providerId('pi_', payment);
  return {
    disputeId,
    paymentId,
    status,
    amountMinor: 99_999_999,
    currency: 'JPY',
    ofOverpayment: payment > 1,
  };
}

describe('an order at all of its limits', () => {
  it.each([
    { most: 'lines', lines: WORST_LINES, attempts: 19 },
    { most: 'attempts', lines: [], attempts: 96 },
  ])(
    'of $most leaves a hundred kilobytes of what an item may take',
    ({ lines, attempts }) => {
      const growing = new Growing(opened(lines));
      expect(checkOutAll(growing)).toBe(attempts);
      payAll(growing);
      expect(growing.order.state).toBe('PAID');
      expect(growing.order.overpayments).toHaveLength(attempts - 1);
      failSteps(growing);
      // Whatever came before, what was paid can still be given back through us.
      expect(refundAll(growing)).toBeGreaterThan(9);
      disputeAll(growing);
      expect(growing.order.disputes).toHaveLength(attempts);
      refundInDashboard(growing, 100);
      failSteps(growing);
      expect(growing.largest).toBeLessThan(MOST_BYTES - SPARE_BYTES);
      expect(growing.largest).toBeGreaterThan(150_000);
    },
    60_000,
  );

  it('is never larger in the table than it is taken for', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        expect(orderBytes(order)).toBeGreaterThanOrEqual(wireBytes(order));
      }),
      { numRuns: 200 },
    );
  }, 30_000);
});

describe('an order that is full', () => {
  const full = fullOrder();

  it('lists its states, and only counts its notes', () => {
    expect(isFull(full)).toBe(true);
    const noted = note(full, { cause: 'STEP_RETRIED', actor: 'worker', atMs: AT_MS });
    expect([noted.version, noted.rev, noted.unlistedNotes]).toEqual([full.version, full.rev + 1, 1]);
    const what = { cause: 'COMPLETED', actor: 'worker', atMs: AT_MS } as const;
    const confirmed = move({ ...full, steps: [] }, 'STEPS_DONE', 'CONFIRMED', what);
    expect([confirmed.state, confirmed.version]).toEqual(['CONFIRMED', full.version + 1]);
  });

  it('takes no further attempt and no further refund, and says so to clients', () => {
    expect(hasRoomForAttempt(full)).toBe(false);
    expect(payableWith({ ...full, state: 'FAILED' }, AT_MS)).toEqual(['WALLET']);
    expect(refundObjection(full, decimal('1'))).toBe('TOO_MANY');
  });

  it('starts nothing that would follow a refund or a dispute', () => {
    const steps = full.steps.map(({ name }) => name);
    const dispute = decideDispute(full, disputeTold('dp_1', 1, 'open'), ZERO, true, context);
    if (dispute.kind !== 'CHANGE') throw new Error(`no change: ${dispute.kind}`);
    expect(dispute.after.disputes).toHaveLength(1);
    expect(dispute.after.steps.map(({ name }) => name)).toEqual(steps);
  });

  it('keeps a refund made at the provider beside it, and what such refunds come to in sums', () => {
    const first = refundAside(full, undefined, refundTold('re_1', 'PENDING', decimal('300')));
    expect(first.after.refunds).toEqual([]);
    expect(first.overflow).toMatchObject({ refundId: 're_1', state: 'PENDING', source: 'DASHBOARD' });
    expect(sumsOf(first.after)).toEqual(['1', '0', '300', '0', '300', '99999699']);

    const second = refundAside(first.after, undefined, refundTold('re_2', 'SUCCEEDED', decimal('50')));
    expect(sumsOf(second.after)).toEqual(['2', '50', '300', '50', '300', '99999649']);

    const settled = refundAside(
      second.after,
      first.overflow,
      refundTold('re_1', 'SUCCEEDED', decimal('300')),
    );
    expect(sumsOf(settled.after)).toEqual(['2', '350', '0', '350', '0', '99999649']);
    expect(settled.entry?.postings).toHaveLength(1);

    const failed = refundAside(settled.after, settled.overflow, refundTold('re_1', 'FAILED', decimal('300')));
    expect(sumsOf(failed.after)).toEqual(['2', '50', '0', '50', '0', '99999949']);
    expect(failed.overflow).toMatchObject({ refundId: 're_1', state: 'FAILED' });

    const late = refundTold('re_1', 'SUCCEEDED', decimal('300'));
    expect(
      decideWithOverflow(failed.after, late, failed.overflow, (whole) =>
        decideRefund(whole, late, ZERO, context),
      ),
    ).toMatchObject({ kind: 'NO_CHANGE', outcome: 'STALE' });
  });
});

describe('an order that is past the room for transitions', () => {
  it('lists every change of state all the same, in the place of what came long before, and does not grow', () => {
    const what = { cause: 'STEP_RETRIED', actor: 'worker', atMs: AT_MS } as const;
    const noted = note(note(opened([]), { ...what, detail: LONG_TEXT }), { ...what, detail: LONG_TEXT });
    const [line] = WORST_LINES;
    if (line === undefined) throw new Error('no line');
    const lines = Array.from({ length: 420 }, () => line);
    const crowded: Order = { ...noted, state: 'PAID', refundable: AMOUNT, lines };
    expect(orderBytes(crowded)).toBeGreaterThan(320_000);

    const versions: (readonly number[])[] = [];
    let order = crowded;
    for (let turn = 0; turn < 20; turn += 1) {
      const isBack = order.state === 'REFUNDED';
      const cause = isBack ? 'REFUND_FAILED' : 'REFUND_SUCCEEDED';
      const before = order;
      order = isBack
        ? move(before, 'REFUND_UNDONE', 'PAID', { ...what, cause })
        : move(before, 'REFUNDED_IN_FULL', 'REFUNDED', { ...what, cause });
      expect(newTransitions(before, order)).toMatchObject([{ version: before.version + 1, to: order.state }]);
      expect(orderBytes(order)).toBeLessThanOrEqual(orderBytes(crowded));
      versions.push(order.timeline.map(({ version }) => version));
    }
    // How it began stays; notes make room first, the oldest before all others, then states that are past.
    expect(versions.slice(0, 3)).toEqual([
      [1, 3, 4],
      [1, 4, 5],
      [1, 5, 6],
    ]);
    expect([order.version, order.state, order.unlistedNotes]).toEqual([23, 'PAID', 20]);
    expect(versions.at(-1)).toEqual([1, 22, 23]);
  });
});

function fullOrder(): Order {
  const order: Order = { ...opened([]), state: 'PAID', refundable: AMOUNT };
  const [line] = WORST_LINES;
  if (line === undefined) throw new Error('no line');
  return { ...order, lines: Array.from({ length: 250 }, () => line) };
}

function refundAside(order: Order, kept: Refund | undefined, reported: RefundDetails): OrderUpdate {
  const decision = decideWithOverflow(order, reported, kept, (whole) =>
    decideRefund(whole, reported, ZERO, context),
  );
  if (decision.kind !== 'CHANGE') throw new Error(`no change: ${decision.detail}`);
  expect(decision.before).toBe(order);
  return decision;
}

/** What is aside, and what the order says of all its refunds. */
function sumsOf({ overflow, refunded, refundPending, refundable }: Order): readonly string[] {
  const sums = [overflow?.succeeded ?? ZERO, overflow?.pending ?? ZERO, refunded, refundPending, refundable];
  return [String(overflow?.count ?? 0), ...sums.map(plainDecimal)];
}
