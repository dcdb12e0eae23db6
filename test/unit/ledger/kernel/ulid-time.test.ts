import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import { leastUlidAt, ulidTimeMs } from '../../../../src/ledger/kernel/ulid-time.ts';

it.each([1, 31, 32, 1_900_000_000_000, 2 ** 48 - 1])('a ULID tells when it was made: %d', (atMs) => {
  expect(ulidTimeMs(ulid(atMs))).toBe(atMs);
});

describe('the least ULID of an instant', () => {
  it.each([2, 1_900_000_000_000, 2 ** 48 - 1])('bounds what was made then: %d', (atMs) => {
    const made = ulid(atMs);
    expect(leastUlidAt(atMs).slice(0, 10)).toBe(made.slice(0, 10));
    expect(leastUlidAt(atMs) <= made).toBe(true);
    expect(ulid(atMs - 1) < leastUlidAt(atMs)).toBe(true);
  });

  it('is a ULID even for an instant before or beyond all', () => {
    expect(leastUlidAt(-5)).toBe('0'.repeat(26));
    expect(leastUlidAt(1e18).slice(0, 10)).toBe('7ZZZZZZZZZ');
  });
});
