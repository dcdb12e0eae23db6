import { describe, expect, it } from 'vitest';
import { decimal } from '../../../../../src/ledger/kernel/money.ts';
import {
  isItemizable,
  itemizedLines,
  singleLine,
} from '../../../../../src/ledger/model/provider/page-lines.ts';
import type { Order, OrderLine } from '../../../../../src/ledger/model/orders/order.ts';
import { openedOrder } from '../../../../support/sample-orders.ts';

function line(name: string, quantity: number, unitPrice: string): OrderLine {
  const price = decimal(unitPrice);
  return { name, quantity, unitPrice: price, amount: price.times(quantity) };
}

function order(lines: readonly OrderLine[], amount: string, currency = 'USD'): Order {
  return openedOrder({ lines, amount, currency });
}

const TWO = [line('Coffee', 2, '4.80'), line('Toast', 1, '3.50')];

describe('the lines of a payment page', () => {
  it('are those of the order, where they come to what is due', () => {
    const bought = order(TWO, '13.10');
    expect(isItemizable(bought)).toBe(true);
    expect(itemizedLines(bought)).toEqual([
      { name: 'Coffee', quantity: 2, unitAmountMinor: 480 },
      { name: 'Toast', quantity: 1, unitAmountMinor: 350 },
    ]);
    expect(singleLine(bought)).toEqual({ name: 'Coffee × 2 and 1 more', quantity: 1, unitAmountMinor: 1310 });
  });

  it.each([
    ['JPY', '480', 480],
    ['KWD', '1.860', 1860],
    ['ISK', '500', 50000],
  ])('cost in %s %s as %i', (currency, price, minor) => {
    const bought = order([line('Tea', 3, price)], decimal(price).times(3).toFixed(), currency);
    expect(isItemizable(bought)).toBe(true);
    expect(itemizedLines(bought)).toEqual([{ name: 'Tea', quantity: 3, unitAmountMinor: minor }]);
  });

  it('are ninety-nine at most, as many as an order has', () => {
    const lines = Array.from({ length: 99 }, (_, index) => line(`Item ${String(index)}`, 1, '1.00'));
    expect(isItemizable(order(lines, '99.00'))).toBe(true);
    const tooMany = Array.from({ length: 101 }, () => line('Item', 1, '1.00'));
    expect(isItemizable(order(tooMany, '101.00'))).toBe(false);
  });

  it.each<readonly [string, readonly OrderLine[], string, string]>([
    ['a sum that is not what is due', TWO, '13.00', 'USD'],
    ['a price finer than can be paid', [line('Half a yen', 2, '0.5')], '1', 'JPY'],
    ['a price that is no multiple of what can be paid', [line('Tea', 10, '0.001')], '0.010', 'KWD'],
    ['a price above what one may cost', [line('House', 1, '1000000.00')], '1000000.00', 'USD'],
    ['a price below zero', [line('Coffee', 1, '5.00'), line('Discount', 1, '-1.00')], '4.00', 'USD'],
    ['a name of nothing', [line('  ', 1, '5.00')], '5.00', 'USD'],
    ['no line, as of a top-up', [], '5.00', 'USD'],
  ])('are one for all where there is %s', (_what, lines, amount, currency) => {
    expect(isItemizable(order(lines, amount, currency))).toBe(false);
  });

  it('are cut between characters as people see them', () => {
    const name = `${'x'.repeat(199)}🍣`;
    const bought = order([line(name, 1, '5.00')], '5.00');
    expect(itemizedLines(bought)[0]?.name).toBe('x'.repeat(199));
    const flag = order([line(`${'x'.repeat(198)}🇯🇵`, 1, '5.00')], '5.00');
    expect(itemizedLines(flag)[0]?.name).toBe('x'.repeat(198));
  });
});
