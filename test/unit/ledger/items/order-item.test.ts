import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../../src/ledger/kernel/attributes.ts';
import { isDecimal, plainDecimal } from '../../../../src/ledger/kernel/money.ts';
import { orderAttributes, readOrder } from '../../../../src/ledger/items/order-item.ts';
import { openedOrder, anyOrder, sampleOrder, samplePaidOrder } from '../../../support/sample-orders.ts';

const POLICY = { sweepAfterMs: 1_800_000 };

/** A value with its decimals as text, so that 10 and 10.0 compare as what they are. */
function comparable(value: unknown): unknown {
  if (isDecimal(value)) return `decimal ${plainDecimal(value)}`;
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, comparable(field)]));
}

describe('an order’s item', () => {
  it('reads back as the order that it was, whatever it holds', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        const item = toAttributes(orderAttributes(order, POLICY));
        expect(comparable(readOrder(item))).toEqual(comparable(order));
      }),
      { numRuns: 100 },
    );
  }, 30_000);

  it('is the same bytes for the same order, read back or not', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        const once = JSON.stringify(toAttributes(orderAttributes(order, POLICY)));
        // What a plan compares: a codec that is no fixed point would write attributes that nobody changed.
        const again = JSON.stringify(
          toAttributes(orderAttributes(readOrder(toAttributes(orderAttributes(order, POLICY))), POLICY)),
        );
        expect(again).toBe(once);
      }),
      { numRuns: 100 },
    );
  }, 30_000);

  it('of a plain paid order of one line stays under 1 KB', () => {
    const item = JSON.stringify(toAttributes(orderAttributes(samplePaidOrder(), POLICY)));
    expect(Buffer.byteLength(item)).toBeLessThan(1_024);
  });

  it('leaves out what is empty or zero', () => {
    expect(Object.keys(toAttributes(orderAttributes(sampleOrder(), POLICY)))).toEqual(
      'uuid type kind state version rev merchant created updated currency amount actor lines timeline'.split(
        ' ',
      ),
    );
  });

  it('is found by operators while a step is dead, and only then', () => {
    const paid = samplePaidOrder();
    const dead = { ...paid, steps: paid.steps.map((step) => ({ ...step, state: 'DEAD' as const })) };
    expect(orderAttributes(dead, POLICY)['listed']).toBe('dead#demo');
    expect(orderAttributes(dead, POLICY)['listed_at']).toBe(paid.updatedAtMs);
    expect(orderAttributes(paid, POLICY)['listed']).toBeUndefined();
  });

  it('of a top-up has no merchant, and so is in no merchant’s list', () => {
    const topUp = openedOrder({ kind: 'TOP_UP', actor: 'till', atMs: 1 });
    expect('merchant' in toAttributes(orderAttributes(topUp, POLICY))).toBe(false);
  });
});
