import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currency, isCurrency, isPayable } from '../../../../src/ledger/kernel/currencies.ts';
import {
  add,
  decimal,
  fitsOperation,
  fitsScale,
  formatDecimal,
  fromMinorUnits,
  minorUnits,
  negate,
  parseDecimal,
  plainDecimal,
  portion,
  proportion,
  split,
  subtract,
  toMinorUnits,
} from '../../../../src/ledger/kernel/money.ts';

const NINES = '9'.repeat(38);

describe('the grammar of decimals', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['0.00', '0'],
    ['-0.00', '0'],
    ['10.0', '10'],
    ['10.10', '10.1'],
    ['-10.00', '-10'],
    ['0.0000001', '0.0000001'],
    ['9007199254740993', '9007199254740993'],
    ['12345678901234567.89', '12345678901234567.89'],
    [NINES, NINES],
    [`-${'9'.repeat(30)}.${'9'.repeat(8)}`, `-${'9'.repeat(30)}.${'9'.repeat(8)}`],
  ])('reads %s exactly', (text, plain) => {
    const value = parseDecimal(text);
    expect(value === undefined ? undefined : plainDecimal(value)).toBe(plain);
  });

  it.each([
    'NaN',
    'Infinity',
    '-Infinity',
    '1e3',
    '1E-2',
    '0x1f',
    '0b11',
    '0o17',
    '1_000',
    '1,000',
    '1.000,00',
    '+5',
    '.5',
    '5.',
    '-.5',
    '--5',
    '-',
    '.',
    '',
    ' ',
    ' 10',
    '10 ',
    '1 0',
    '10\n',
    '１０',
    '٣',
    '00',
    '01',
    '-01',
    '1.2.3',
    '½',
    '$5',
    'null',
    'true',
    '[]',
    `1${'0'.repeat(40)}`,
    `1${NINES}`,
    `0.${'0'.repeat(40)}1`,
  ])('refuses %j', (text) => {
    expect(parseDecimal(text)).toBeUndefined();
    expect(() => decimal(text)).toThrow(RangeError);
  });
});

describe('printing', () => {
  it('never shows an exponent, however large or small', () => {
    expect(plainDecimal(decimal(`1${'0'.repeat(37)}`))).toBe(`1${'0'.repeat(37)}`);
    expect(plainDecimal(decimal(`0.${'0'.repeat(36)}1`))).toBe(`0.${'0'.repeat(36)}1`);
    expect(formatDecimal(decimal('0.00000001'), 8)).toBe('0.00000001');
    expect(String(decimal('0.000000000001'))).toBe('0.000000000001');
  });

  it('shows the full scale', () => {
    expect(formatDecimal(decimal('480'), 0)).toBe('480');
    expect(formatDecimal(decimal('4.8'), 2)).toBe('4.80');
    expect(formatDecimal(decimal('0'), 2)).toBe('0.00');
    expect(formatDecimal(decimal('18.6'), 3)).toBe('18.600');
    expect(formatDecimal(decimal('-0.5'), 2)).toBe('-0.50');
    expect(formatDecimal(decimal('9999999999999999.99'), 2)).toBe('9999999999999999.99');
  });

  it('shows what is finer than the scale as it is', () => {
    expect(formatDecimal(decimal('4.801'), 2)).toBe('4.801');
    expect(formatDecimal(decimal('9.5'), 0)).toBe('9.5');
    expect(formatDecimal(decimal('-0.001'), 2)).toBe('-0.001');
    expect(formatDecimal(decimal('4.8000'), 2)).toBe('4.80');
  });

  it('knows whether a value fits a scale', () => {
    expect(fitsScale(decimal('4.800'), 1)).toBe(true);
    expect(fitsScale(decimal('4.801'), 2)).toBe(false);
  });
});

describe('arithmetic', () => {
  it('is exact where floats are not', () => {
    expect(plainDecimal(add(decimal('0.1'), decimal('0.2')))).toBe('0.3');
    expect(plainDecimal(subtract(decimal('12345678901234567.89'), decimal('0.01')))).toBe(
      '12345678901234567.88',
    );
    expect(plainDecimal(add(decimal(NINES), decimal('1')))).toBe(`1${'0'.repeat(38)}`);
  });

  it('has no negative zero', () => {
    expect(plainDecimal(negate(decimal('0')))).toBe('0');
    expect(plainDecimal(add())).toBe('0');
  });

  it('rounds a reward down, never up', () => {
    expect(plainDecimal(portion(decimal('199'), decimal('0.01'), 0))).toBe('1');
    expect(plainDecimal(portion(decimal('480'), decimal('0.01'), 2))).toBe('4.8');
  });

  it('takes at most 18 digits before the point for one operation', () => {
    expect(fitsOperation(decimal('999999999999999999.99999999'))).toBe(true);
    expect(fitsOperation(decimal('1000000000000000000'))).toBe(false);
    expect(fitsOperation(decimal('-1000000000000000000'))).toBe(false);
  });

  it('gives the whole for the whole, and rounds parts down', () => {
    expect(plainDecimal(proportion(decimal('7'), decimal('3'), decimal('3'), 0))).toBe('7');
    expect(plainDecimal(proportion(decimal('4'), decimal('120'), decimal('480'), 0))).toBe('1');
    expect(plainDecimal(proportion(decimal('4'), decimal('119'), decimal('480'), 0))).toBe('0');
    expect(plainDecimal(proportion(decimal('4.8'), decimal('1'), decimal('3'), 8))).toBe('1.6');
    expect(plainDecimal(proportion(decimal('1'), decimal('1'), decimal('3'), 8))).toBe('0.33333333');
  });
});

describe('minor units, by Stripe’s table', () => {
  // Major amount, currency, the integer that Stripe takes.
  const PAYABLE: readonly (readonly [string, string, number])[] = [
    ['500', 'JPY', 500],
    ['20.00', 'USD', 2000],
    ['0.01', 'USD', 1],
    ['18.600', 'KWD', 18600],
    ['18.610', 'KWD', 18610],
    ['1.230', 'BHD', 1230],
    ['1.230', 'JOD', 1230],
    ['1.230', 'OMR', 1230],
    ['1.230', 'TND', 1230],
    ['10', 'ISK', 1000],
    ['10', 'UGX', 1000],
    ['700', 'KRW', 700],
    ['19.99', 'EUR', 1999],
  ];
  it.each(PAYABLE)('%s %s leaves as %i', (amount, code, minor) => {
    expect(isPayable(decimal(amount), currency(code))).toBe(true);
    expect(toMinorUnits(decimal(amount), currency(code).exponent)).toBe(minor);
  });

  // The other direction against literals of its own, so that a fault that inverts itself shows.
  const ARRIVING: readonly (readonly [number, string, string])[] = [
    [500, 'JPY', '500'],
    [2000, 'USD', '20.00'],
    [18600, 'KWD', '18.600'],
    [1000, 'ISK', '10'],
    [1000, 'UGX', '10'],
    [1, 'USD', '0.01'],
  ];
  it.each(ARRIVING)('%i %s arrives as %s', (minor, code, amount) => {
    const { exponent, scale } = currency(code);
    expect(formatDecimal(fromMinorUnits(minor, exponent), scale)).toBe(amount);
  });

  it.each([
    ['500.50', 'JPY'],
    ['18.605', 'KWD'],
    ['18.6001', 'KWD'],
    ['10.50', 'ISK'],
    ['10.5', 'UGX'],
    ['19.999', 'USD'],
    ['1.235', 'BHD'],
    ['90071992547409.93', 'USD'],
  ])('%s %s can not be paid', (amount, code) => {
    expect(isPayable(decimal(amount), currency(code))).toBe(false);
  });

  it('takes no fraction of a unit and nothing past a safe integer', () => {
    expect(minorUnits(decimal('0.005'), 2)).toBeUndefined();
    expect(minorUnits(decimal('90071992547409.91'), 2)).toBe(9007199254740991);
    expect(minorUnits(decimal('90071992547409.92'), 2)).toBeUndefined();
    expect(() => toMinorUnits(decimal('0.005'), 2)).toThrow(RangeError);
    expect(() => fromMinorUnits(0.5, 2)).toThrow(RangeError);
    expect(() => fromMinorUnits(2 ** 53, 2)).toThrow(RangeError);
  });

  it('knows no currency that is not on the list', () => {
    for (const code of ['XXX', 'jpy', '', 'BTC', 'constructor', '__proto__', 'MRU']) {
      expect(isCurrency(code)).toBe(false);
      expect(() => currency(code)).toThrow(RangeError);
    }
  });
});

describe('splits', () => {
  const weights = fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 20 });

  it('sum to the total exactly, each within one unit of its share', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
        weights.filter((all) => all.some((weight) => weight > 0)),
        fc.integer({ min: 0, max: 8 }),
        (units, parts, scale) => {
          const unit = fromMinorUnits(1, scale);
          const total = decimal(String(units)).times(unit);
          const shares = split(
            total,
            parts.map((part) => decimal(String(part))),
            scale,
          );
          expect(plainDecimal(add(...shares))).toBe(plainDecimal(total));
          const weightSum = parts.reduce((sum, part) => sum + part, 0);
          for (const [index, share] of shares.entries()) {
            const exact = total.times(parts[index] ?? 0).dividedBy(weightSum);
            expect(share.minus(exact).abs().lt(unit)).toBe(true);
            if (parts[index] === 0) expect(share.isZero()).toBe(true);
          }
        },
      ),
    );
  });

  it('give what is left over to the largest remainders, ties to the earlier part', () => {
    const shares = (total: string, parts: readonly string[], scale: number): readonly string[] =>
      split(
        decimal(total),
        parts.map((part) => decimal(part)),
        scale,
      ).map(plainDecimal);
    expect(shares('100', ['1', '1', '1'], 0)).toEqual(['34', '33', '33']);
    expect(shares('0.05', ['1', '1', '2'], 2)).toEqual(['0.01', '0.01', '0.03']);
    expect(shares('-100', ['1', '1', '1'], 0)).toEqual(['-34', '-33', '-33']);
    expect(shares('10', ['0', '3', '0'], 0)).toEqual(['0', '10', '0']);
    expect(shares('1', ['2', '1'], 0)).toEqual(['1', '0']);
  });

  it('refuse what has no answer', () => {
    expect(() => split(decimal('1'), [], 0)).toThrow(RangeError);
    expect(() => split(decimal('1'), [decimal('0')], 0)).toThrow(RangeError);
    expect(() => split(decimal('1'), [decimal('-1'), decimal('3')], 0)).toThrow(RangeError);
    expect(() => split(decimal('0.5'), [decimal('1')], 0)).toThrow(RangeError);
  });
});
