import { describe, expect, it } from 'vitest';
import { digest, fingerprint } from '../../../../src/ledger/kernel/fingerprint.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';

describe('the fingerprint of a request', () => {
  const print = (amount: string): string =>
    fingerprint('refund', {
      order: { tenant: 't_1', orderId: 'o' },
      amount: decimal(amount),
      reason: 'late',
    });

  it('is a digest that stays the same from one release to the next', () => {
    expect(
      fingerprint('charge', { b: 'two', a: decimal('10.00'), gone: undefined, list: [true, 1, null] }),
    ).toBe('ae7b8424d2b9b9d10df9e8842435f97fe55c89224c1651ab86e7bf27f5cbf0af');
  });

  it('is the same for "10.0" and "10.00", and whatever the order of fields', () => {
    expect(print('10.0')).toBe(print('10.00'));
    const shuffled = { reason: 'late', amount: decimal('10'), order: { orderId: 'o', tenant: 't_1' } };
    expect(fingerprint('refund', shuffled)).toBe(print('10.0'));
  });

  it('is the same for an absent and an undefined field', () => {
    expect(fingerprint('charge', { a: 1, b: undefined })).toBe(fingerprint('charge', { a: 1 }));
  });

  it('tells apart what differs', () => {
    const prints = [
      fingerprint('charge', { amount: decimal('10') }),
      fingerprint('refund', { amount: decimal('10') }),
      fingerprint('charge', { amount: decimal('99') }),
      fingerprint('charge', { amount: '10' }),
      fingerprint('charge', { amount: '#10' }),
      fingerprint('charge', { amount: null }),
      fingerprint('charge', {}),
      fingerprint('charge', { amounts: decimal('10') }),
      fingerprint('charge', { list: ['a', 'b'] }),
      fingerprint('charge', { list: ['b', 'a'] }),
      fingerprint('charge', { list: ['a,b'] }),
      fingerprint('charge', { list: [['a'], 'b'] }),
    ];
    expect(new Set(prints).size).toBe(prints.length);
  });
});

describe('a digest of parts', () => {
  it('keeps the parts from running into each other', () => {
    expect(digest('a', 'bc')).not.toBe(digest('ab', 'c'));
    expect(digest('a', '')).not.toBe(digest('a'));
    expect(digest('a', 'b')).toMatch(/^[0-9a-f]{64}$/);
  });
});
