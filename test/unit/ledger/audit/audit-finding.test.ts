import { describe, expect, it } from 'vitest';
import { amountFinding } from '../../../../src/ledger/audit/audit-finding.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';

describe('an amount that an audit compares', () => {
  it('is no finding where it is what it should be, however many zeros it is written with', () => {
    expect(amountFinding('I2', 'BALANCE#ECOPAY', 'balance', decimal('5'), decimal('5.00'))).toBeUndefined();
  });

  it('is a finding with what was expected, what was found, and found less expected', () => {
    expect(amountFinding('I2', 'BALANCE#ECOPAY', 'balance', decimal('12.50'), decimal('10'))).toEqual({
      promise: 'I2',
      item: 'BALANCE#ECOPAY',
      what: 'balance',
      expected: '12.5',
      found: '10',
      offBy: '-2.5',
    });
    expect(amountFinding('I4', 'ORDER#1', 'refunded', decimal('0'), decimal('0.00000001'))).toEqual({
      promise: 'I4',
      item: 'ORDER#1',
      what: 'refunded',
      expected: '0',
      found: '0.00000001',
      offBy: '0.00000001',
    });
  });
});
