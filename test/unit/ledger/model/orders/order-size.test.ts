import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZERO, decimal } from '../../../../../src/ledger/kernel/money.ts';
import { move, newTransitions, note } from '../../../../../src/ledger/model/orders/order-changes.ts';
import { hasRoomForAttempt, isFull, orderBytes } from '../../../../../src/ledger/model/orders/order-size.ts';
import { payableWith } from '../../../../../src/ledger/model/orders/order-view.ts';
import type { Order } from '../../../../../src/ledger/model/orders/order.ts';
import { refundObjection } from '../../../../../src/ledger/model/orders/refunds.ts';
import { decideDispute } from '../../../../../src/ledger/model/provider/disputes.ts';
import { anyOrder } from '../../../../support/sample-orders.ts';

import {
  MOST_BYTES,
  SPARE_BYTES,
  AT_MS,
  AMOUNT,
  LONG_TEXT,
  context,
  WORST_LINES,
  opened,
  wireBytes,
  Growing,
  checkOutAll,
  payAll,
  failSteps,
  refundAll,
  refundInDashboard,
  disputeAll,
  reportedDispute,
} from './growing-order.ts';

describe('an order at all of its limits', () => {
  it.each([
    { most: 'lines', lines: WORST_LINES, attempts: 19 },
    { most: 'attempts', lines: [], attempts: 95 },
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
    const dispute = decideDispute(full, reportedDispute('dp_1', 1, 'open'), ZERO, true, context);
    if (dispute.kind !== 'CHANGE') throw new Error(`no change: ${dispute.kind}`);
    expect(dispute.after.disputes).toHaveLength(1);
    expect(dispute.after.steps.map(({ name }) => name)).toEqual(steps);
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
