import { Decimal as DecimalJs } from 'decimal.js';

/**
 * Precision 100 makes every sum, difference and product of two 38-digit values exact, so nothing rounds silently;
 * the exponent bounds keep an exponent out of every printed value.
 */
const Exact = DecimalJs.clone({
  precision: 100,
  rounding: DecimalJs.ROUND_DOWN,
  toExpNeg: -9e15,
  toExpPos: 9e15,
  maxE: 9e15,
  minE: -9e15,
});

/** An exact decimal. Made by `parseDecimal`, `decimal` and `fromMinorUnits` alone; never from a float. */
export type Decimal = InstanceType<typeof Exact>;

/** An amount with what it is an amount of: an asset or a currency, and how many decimals that has. */
export interface Money {
  readonly amount: Decimal;
  readonly unit: string;
}

/** DynamoDB keeps 38 significant digits. */
export const MAX_DIGITS = 38;

/** An amount of one operation has at most this many digits before the point, so that no sum of them nears 38. */
const MAX_INTEGER_DIGITS = 18;

const DECIMAL_GRAMMAR = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** Reads a decimal in plain notation; undefined for anything else: exponents, hex, blanks, `+5`, `.5`, over 38 digits. */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > MAX_DIGITS + 2 || !DECIMAL_GRAMMAR.test(text)) return undefined;
  if (text.replace(/[-.]/g, '').length > MAX_DIGITS) return undefined;
  const value = new Exact(text);
  return value.isZero() ? new Exact(0) : value;
}

/** A decimal known to be well formed: a literal, or what the table holds. Throws RangeError otherwise. */
export function decimal(text: string): Decimal {
  const value = parseDecimal(text);
  if (value === undefined) throw new RangeError('not a decimal in plain notation');
  return value;
}

export function isDecimal(value: unknown): value is Decimal {
  return value instanceof Exact;
}

export const ZERO: Decimal = decimal('0');

export function add(...values: readonly Decimal[]): Decimal {
  return values.reduce((sum, value) => sum.plus(value), ZERO);
}

export function subtract(from: Decimal, value: Decimal): Decimal {
  return from.minus(value);
}

export function negate(value: Decimal): Decimal {
  return value.isZero() ? value : value.negated();
}

export function smaller(left: Decimal, right: Decimal): Decimal {
  return left.lt(right) ? left : right;
}

/** `value × rate`, rounded down to `scale` decimals: a reward never exceeds its rate. */
export function portion(value: Decimal, rate: Decimal, scale: number): Decimal {
  return value.times(rate).toDecimalPlaces(scale, DecimalJs.ROUND_DOWN);
}

/** `whole × part ÷ total`, rounded down to `scale` decimals. With part = total it is `whole`, exactly. Total isn't 0. */
export function proportion(whole: Decimal, part: Decimal, total: Decimal, scale: number): Decimal {
  if (part.eq(total)) return whole;
  return whole
    .times(part)
    .dividedToIntegerBy(total.times(new Exact(10).pow(-scale)))
    .times(new Exact(10).pow(-scale));
}

/** Whether the value needs no more than `scale` decimals. */
export function fitsScale(value: Decimal, scale: number): boolean {
  return value.decimalPlaces() <= scale;
}

/** Whether one operation may move this much: at most 18 digits before the point. */
export function fitsOperation(value: Decimal): boolean {
  return value.abs().lt(new Exact(10).pow(MAX_INTEGER_DIGITS));
}

/**
 * The full-scale text of the wire: `480` for JPY, `4.80` for USD. What is finer keeps its decimals: Stripe may tell of
 * 10.50 ISK, and an asset may have lost decimals since something was booked.
 */
export function formatDecimal(value: Decimal, scale: number): string {
  return value.toFixed(Math.max(scale, value.decimalPlaces()));
}

/** The shortest plain text, as a number attribute holds it: `10.00` and `10.0` are both `10`. */
export function plainDecimal(value: Decimal): string {
  return value.toFixed();
}

/** An amount in a currency's smallest unit, as Stripe takes it; undefined if that isn't a whole, safe integer. */
export function minorUnits(value: Decimal, exponent: number): number | undefined {
  const minor = value.times(new Exact(10).pow(exponent));
  return minor.isInteger() && minor.abs().lte(Number.MAX_SAFE_INTEGER) ? minor.toNumber() : undefined;
}

/** `minorUnits` of an amount that is known to have some. Throws RangeError otherwise. */
export function toMinorUnits(value: Decimal, exponent: number): number {
  const minor = minorUnits(value, exponent);
  if (minor === undefined)
    throw new RangeError(`no whole number of minor units at exponent ${String(exponent)}`);
  return minor;
}

/** The inverse of `toMinorUnits`. Throws RangeError for anything but a safe integer. */
export function fromMinorUnits(minor: number, exponent: number): Decimal {
  if (!Number.isSafeInteger(minor)) throw new RangeError('minor units are whole');
  return new Exact(minor).times(new Exact(10).pow(-exponent));
}

/**
 * Splits `total` in proportion to `weights` at the given scale by largest remainder (ties go to the earlier part).
 * The parts sum to the total exactly. Throws RangeError without a positive weight or if the total doesn't fit the scale.
 */
export function split(total: Decimal, weights: readonly Decimal[], scale: number): readonly Decimal[] {
  const weightSum = add(...weights);
  if (weights.some((weight) => weight.isNegative()) || !weightSum.gt(0))
    throw new RangeError('no positive weight');
  const unit = new Exact(10).pow(-scale);
  const units = total.abs().dividedBy(unit);
  if (!units.isInteger()) throw new RangeError('the total has more decimals than the scale');
  const shares = weights.map((weight, index) => {
    const product = units.times(weight);
    const floor = product.dividedToIntegerBy(weightSum);
    return { index, floor, remainder: product.minus(floor.times(weightSum)) };
  });
  const left = units.minus(add(...shares.map((share) => share.floor))).toNumber();
  const byRemainder = [...shares].sort((one, other) =>
    one.remainder.eq(other.remainder) ? one.index - other.index : other.remainder.comparedTo(one.remainder),
  );
  const lucky = new Set(byRemainder.slice(0, left).map((share) => share.index));
  const sign = total.isNegative() ? -1 : 1;
  return shares.map(({ index, floor }) =>
    floor
      .plus(lucky.has(index) ? 1 : 0)
      .times(unit)
      .times(sign),
  );
}
