import { describe, expect, it } from 'vitest';
import { move } from '../../../../../src/ledger/model/orders/order-changes.ts';
import {
  ORDER_EDGES,
  ORDER_STATES,
  type OrderState,
  type OrderTrigger,
  allows,
  isPaid,
} from '../../../../../src/ledger/model/orders/order-states.ts';
import { SAMPLE_AT_MS, sampleOrder } from '../../../../support/sample-orders.ts';

/** docs/DESIGN.md §7 once more, row by row: all that may happen. */
const TABLE: Readonly<Record<OrderTrigger, readonly (readonly [OrderState | undefined, OrderState])[]>> = {
  CREATE: [[undefined, 'CREATED']],
  SESSION_MADE: [
    ['CREATED', 'SESSION_CREATED'],
    ['FAILED', 'SESSION_CREATED'],
    ['EXPIRED', 'SESSION_CREATED'],
  ],
  WALLET_CHARGE: [
    ['CREATED', 'PAID'],
    ['FAILED', 'PAID'],
    ['EXPIRED', 'PAID'],
  ],
  CASH: [['CREATED', 'PAID']],
  PAYMENT_WAITING: [['SESSION_CREATED', 'PENDING_PAYMENT']],
  MONEY_ARRIVED: [
    ['CREATED', 'PAID'],
    ['SESSION_CREATED', 'PAID'],
    ['PENDING_PAYMENT', 'PAID'],
    ['FAILED', 'PAID'],
    ['EXPIRED', 'PAID'],
    ['CANCELED', 'PAID'],
  ],
  PAYMENT_FAILED: [
    ['SESSION_CREATED', 'FAILED'],
    ['PENDING_PAYMENT', 'FAILED'],
  ],
  PAYMENT_DECLINED: [['PENDING_PAYMENT', 'SESSION_CREATED']],
  SESSION_EXPIRED: [
    ['SESSION_CREATED', 'EXPIRED'],
    ['PENDING_PAYMENT', 'EXPIRED'],
  ],
  CANCEL: [
    ['CREATED', 'CANCELED'],
    ['SESSION_CREATED', 'CANCELED'],
    ['FAILED', 'CANCELED'],
    ['EXPIRED', 'CANCELED'],
  ],
  STEPS_DONE: [['PAID', 'CONFIRMED']],
  REFUNDED_IN_FULL: [
    ['PAID', 'REFUNDED'],
    ['CONFIRMED', 'REFUNDED'],
  ],
  REFUND_UNDONE: [
    ['REFUNDED', 'CONFIRMED'],
    ['REFUNDED', 'PAID'],
  ],
};

// Object.keys forgets that these are the table's own names.
const TRIGGERS = Object.keys(TABLE) as readonly OrderTrigger[];
const FROM: readonly (OrderState | undefined)[] = [undefined, ...ORDER_STATES];
const EVERY_MOVE = TRIGGERS.flatMap((trigger) =>
  FROM.flatMap((from) => ORDER_STATES.map((to) => [trigger, from, to] as const)),
);

function isInTable(trigger: OrderTrigger, from: OrderState | undefined, to: OrderState): boolean {
  return TABLE[trigger].some(([source, target]) => source === from && target === to);
}

describe('the table of order states', () => {
  it('has an edge for every row of the design, and for no other pair', () => {
    expect(Object.keys(ORDER_EDGES).sort()).toEqual([...TRIGGERS].sort());
    const allowed = EVERY_MOVE.filter(([trigger, from, to]) => allows(trigger, from, to));
    expect(allowed).toEqual(EVERY_MOVE.filter(([trigger, from, to]) => isInTable(trigger, from, to)));
    expect(allowed).toHaveLength(29);
    expect(EVERY_MOVE).toHaveLength(13 * 10 * 9);
  });

  it('says from which states a trigger does anything at all', () => {
    for (const trigger of TRIGGERS) {
      const sources = FROM.filter((from) => allows(trigger, from));
      expect(sources).toEqual(FROM.filter((from) => TABLE[trigger].some(([source]) => source === from)));
    }
  });

  it('reaches every state from nothing', () => {
    const reached = new Set<OrderState | undefined>([undefined]);
    for (let grown = true; grown;) {
      const before = reached.size;
      for (const [trigger, from, to] of EVERY_MOVE) {
        if (reached.has(from) && allows(trigger, from, to)) reached.add(to);
      }
      grown = reached.size > before;
    }
    expect([...reached].filter((state) => state !== undefined).sort()).toEqual([...ORDER_STATES].sort());
  });

  it('leads out of a paid state only to another paid one', () => {
    for (const [trigger, from, to] of EVERY_MOVE) {
      if (from !== undefined && isPaid(from) && allows(trigger, from, to)) expect(isPaid(to)).toBe(true);
    }
    expect(ORDER_STATES.filter(isPaid)).toEqual(['PAID', 'CONFIRMED', 'REFUNDED']);
  });
});

describe('moving an order', () => {
  const what = { cause: 'CANCELED', actor: 'alice', atMs: SAMPLE_AT_MS } as const;

  it('throws for every pair that the table does not have', () => {
    for (const [trigger, from, to] of EVERY_MOVE) {
      if (from === undefined) continue;
      const order = { ...sampleOrder(), state: from };
      if (isInTable(trigger, from, to)) {
        expect(move(order, trigger, to, what)).toMatchObject({ state: to, version: 2, rev: 2 });
      } else expect(() => move(order, trigger, to, what), `${trigger} ${from} ${to}`).toThrow(RangeError);
    }
  });
});
