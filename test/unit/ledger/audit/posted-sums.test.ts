import { describe, expect, it } from 'vitest';
import { sumPostings } from '../../../../src/ledger/audit/posted-sums.ts';
import type { Entry } from '../../../../src/ledger/model/entries/entry.ts';
import { entry, posting } from './audited.ts';

function sums(...entries: readonly Entry[]): readonly string[] {
  return [...sumPostings(entries).values()].map(
    ({ name, asset, sum }) => `${name} ${asset} ${sum.toFixed()}`,
  );
}

describe('the sums of postings', () => {
  it('are nothing where nothing was posted', () => {
    expect(sums()).toEqual([]);
    expect(sums(entry('PAYMENT', []))).toEqual([]);
  });

  it('count a credit up and a debit down, over all entries', () => {
    const arrived = entry('PAYMENT', [posting('stripe', 'merchant:cafe', '500')]);
    const back = entry('REFUND', [posting('merchant:cafe', 'stripe', '120.5')]);
    expect(sums(arrived, back)).toEqual(['merchant:cafe JPY 379.5', 'stripe JPY -379.5']);
  });

  it('keep assets of one account apart, and accounts in one asset', () => {
    const charge = entry('CHARGE', [
      posting('wallet:alice', 'merchant:cafe', '500', 'ECOPAY'),
      posting('issuer', 'wallet:alice', '5', 'POINT'),
    ]);
    expect(sums(charge)).toEqual([
      'merchant:cafe ECOPAY 500',
      'wallet:alice ECOPAY -500',
      'wallet:alice POINT 5',
      'issuer POINT -5',
    ]);
  });

  it('keep an account whose postings come to nothing', () => {
    const arrived = entry('PAYMENT', [posting('stripe', 'merchant:cafe', '500')]);
    const back = entry('REFUND', [posting('merchant:cafe', 'stripe', '500')]);
    expect(sums(arrived, back)).toEqual(['merchant:cafe JPY 0', 'stripe JPY 0']);
  });
});
