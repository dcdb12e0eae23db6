import { describe, expect, it } from 'vitest';
import {
  type AttributeInput,
  MalformedItemError,
  readDecimal,
  readInteger,
  readMaps,
  readOneOf,
  readString,
  toAttribute,
  toAttributes,
} from '../../../../src/ledger/kernel/attributes.ts';
import { integer, parseInteger } from '../../../../src/ledger/kernel/integers.ts';
import { add, decimal } from '../../../../src/ledger/kernel/money.ts';

/** What the compiler refuses, to see the gate at run time. */
function smuggled(value: unknown): AttributeInput {
  return value as AttributeInput;
}

describe('making attribute values', () => {
  it('writes decimals in plain digits, in their shortest form', () => {
    expect(toAttribute(decimal('10.00'))).toEqual({ N: '10' });
    expect(toAttribute(decimal('0.0000001'))).toEqual({ N: '0.0000001' });
    expect(toAttribute(decimal('12345678901234567.89'))).toEqual({ N: '12345678901234567.89' });
    expect(toAttribute(decimal('9007199254740993'))).toEqual({ N: '9007199254740993' });
    expect(toAttribute(add(decimal('0.1'), decimal('0.2')))).toEqual({ N: '0.3' });
  });

  it('puts another letter where a text was cut in the middle of one, since no table takes half of it', () => {
    expect(toAttribute('no answer 💥'.slice(0, 11))).toEqual({ S: 'no answer \ufffd' });
    expect(toAttribute('\ude00 no answer 💥')).toEqual({ S: '\ufffd no answer 💥' });
  });

  it('keeps maps and lists in the order given, without what is undefined', () => {
    const made = toAttributes({
      z: 'text',
      a: undefined,
      m: { y: true, b: undefined, c: integer(3) },
      l: ['one', decimal('2.50')],
    });
    expect(JSON.stringify(made)).toBe(
      '{"z":{"S":"text"},"m":{"M":{"y":{"BOOL":true},"c":{"N":"3"}}},"l":{"L":[{"S":"one"},{"N":"2.5"}]}}',
    );
  });

  it.each([0.1 + 0.2, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53)])(
    'refuses the float %s, which the compiler refuses too',
    (value) => {
      expect(() => toAttribute(smuggled(value))).toThrow(RangeError);
      // @ts-expect-error a plain number may be a float
      expect(() => toAttribute(value)).toThrow(RangeError);
    },
  );

  it('refuses more than 38 digits', () => {
    const nines = decimal('9'.repeat(38));
    expect(toAttribute(nines)).toEqual({ N: '9'.repeat(38) });
    expect(() => toAttribute(add(nines.times(10), decimal('1')))).toThrow('more than 38 digits');
  });
});

describe('integers', () => {
  it('are whole, safe and in plain digits', () => {
    expect(integer(9007199254740991)).toBe(9007199254740991);
    expect(parseInteger('-42')).toBe(-42);
    for (const text of ['1.0', '1e3', '', ' 1', '9007199254740993', '0x1f']) {
      expect(() => parseInteger(text)).toThrow(RangeError);
    }
    expect(() => integer(1.5)).toThrow(RangeError);
  });
});

describe('reading attributes', () => {
  it('gives what is there', () => {
    expect(readString({ a: { S: 'x' } }, 'a')).toBe('x');
    expect(readDecimal({ a: { N: '12345678901234567.89' } }, 'a').toFixed()).toBe('12345678901234567.89');
    expect(readInteger({ a: { N: '7' } }, 'a')).toBe(7);
    expect(readMaps({}, 'a')).toEqual([]);
    expect(readOneOf({ a: { S: 'B' } }, 'a', ['A', 'B'])).toBe('B');
  });

  it('calls anything else malformed, by the name of the attribute', () => {
    const malformed = new MalformedItemError('a');
    expect(() => readString({}, 'a')).toThrow(malformed);
    expect(() => readString({ a: { N: '1' } }, 'a')).toThrow(malformed);
    expect(() => readDecimal({ a: { S: '1' } }, 'a')).toThrow(malformed);
    expect(() => readMaps({ a: { L: [{ S: 'x' }] } }, 'a')).toThrow(malformed);
    expect(() => readOneOf({ a: { S: 'C' } }, 'a', ['A', 'B'])).toThrow(malformed);
  });
});
