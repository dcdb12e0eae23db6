import { type Currency, currency, isPayable } from '../../kernel/currencies.ts';
import { ZERO, minorUnits, toMinorUnits } from '../../kernel/money.ts';
import { cutText } from '../../kernel/text.ts';
import type { Order, OrderLine } from '../orders/order.ts';

/*
 * What the customer reads on the payment page, made of what of an order never changes: every line of it, where the provider
 * can show them, else one that stands for all.
 */

/** A line of the payment page. What is paid is the sum of each quantity times its unit's amount. */
export interface PageLine {
  readonly name: string;
  readonly quantity: number;
  readonly unitAmountMinor: number;
}

/** Of a session. An order has 99 at most. */
const MAX_PAGE_LINES = 100;
/** The most that the provider takes as the price of one. */
const MAX_UNIT_AMOUNT = 99_999_999;
const MAX_NAME = 200;

/** Whether the provider takes each line, and all of them come to what is due: then the page shows them. */
export function isItemizable({ lines, currency: code, amount }: Order): boolean {
  const unit = currency(code);
  if (lines.length === 0 || lines.length > MAX_PAGE_LINES) return false;
  const sum = lines.reduce((sofar, line) => sofar.plus(line.unitPrice.times(line.quantity)), ZERO);
  return sum.eq(amount) && lines.every((line) => isValidLine(line, unit));
}

function isValidLine({ name, quantity, unitPrice }: OrderLine, unit: Currency): boolean {
  const minor = minorUnits(unitPrice, unit.exponent);
  if (minor === undefined || minor < 0 || minor > MAX_UNIT_AMOUNT) return false;
  return isPayable(unitPrice, unit) && Number.isInteger(quantity) && quantity >= 1 && lineName(name) !== '';
}

/** Every line, with what one costs. Of an itemizable order alone. */
export function itemizedLines({ lines, currency: code }: Order): readonly PageLine[] {
  const { exponent } = currency(code);
  return lines.map(({ name, quantity, unitPrice }) => ({
    name: lineName(name),
    quantity,
    unitAmountMinor: toMinorUnits(unitPrice, exponent),
  }));
}

/** One line for the whole order: of a top-up, and of what can't be shown by itself. */
export function singleLine(order: Order): PageLine {
  const { exponent } = currency(order.currency);
  return { name: description(order), quantity: 1, unitAmountMinor: toMinorUnits(order.amount, exponent) };
}

function description({ lines, asset }: Order): string {
  const [first, ...more] = lines;
  if (first === undefined) return `Top-up ${asset ?? ''}`.trim();
  const rest = more.length === 0 ? '' : ` and ${String(more.length)} more`;
  const name = first.quantity === 1 ? first.name : `${first.name} × ${String(first.quantity)}`;
  return `${lineName(name)}${rest}`;
}

function lineName(name: string): string {
  return cutText(name, MAX_NAME).trim();
}
