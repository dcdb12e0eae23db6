import { type GraphQLScalarType, isScalarType, parseValue } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/schema/schema.ts';

function scalar(name: string): GraphQLScalarType {
  const type = schema.getType(name);
  if (!isScalarType(type)) throw new Error(name);
  return type;
}

describe.each([
  ['Decimal', '"1200"', '"0.01"', '"-4.80"', '"12345678901234567890123456789012345678"'],
  ['DateTime', '"2026-11-30T03:04:05.678Z"', '"2026-11-30T03:04:05Z"', '"2024-02-29T00:00:00.000Z"'],
  ['IdempotencyKey', '"a"', '"0b3f6a1e-4c55-4f0e-9a3c-1f2e3d4c5b6a"', `"${'~'.repeat(255)}"`],
])('%s', (name, ...texts) => {
  it.each(texts)('takes %s as a literal and as a variable', (text) => {
    const value: unknown = scalar(name).parseLiteral(parseValue(text));
    expect(scalar(name).parseValue(JSON.parse(text))).toEqual(value);
  });

  it.each(['1', '1.5', 'true', 'null', 'WORD', '[]', '{}', '""'])('refuses %s', (text) => {
    expect(() => void scalar(name).parseLiteral(parseValue(text))).toThrow(`${name} takes`);
  });
});

describe('DateTime', () => {
  it('is milliseconds inside and ISO 8601 with milliseconds outside', () => {
    expect(scalar('DateTime').parseValue('2026-11-30T03:04:05.678Z')).toBe(1_796_007_845_678);
    expect(scalar('DateTime').serialize(1_796_007_845_000)).toBe('2026-11-30T03:04:05.000Z');
  });

  it.each([
    '2026-02-30T00:00:00.000Z',
    '2026-11-30',
    '2026-11-30T03:04:05.678+09:00',
    '2026-11-30T25:04:05.678Z',
    '2026-11-30T03:04:05.6789Z',
    ' 2026-11-30T03:04:05.678Z',
  ])('refuses %s', (text) => {
    expect(() => void scalar('DateTime').parseValue(text)).toThrow('DateTime takes an instant in UTC');
  });
});
