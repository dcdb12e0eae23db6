import { describe, expect, it } from 'vitest';
import { recordEntry, checkRoom } from '../../../../src/ledger/items/entry-writes.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { type PlanPart, plan } from '../../../../src/ledger/items/plan.ts';
import { WALLET, entryOf } from './golden-vectors.ts';

describe('a plan', () => {
  const part = (type: string): PlanPart => ({
    items: [{ role: 'other', item: { Put: { Item: { uuid: { S: 'demo#alice' }, type: { S: type } } } } }],
  });

  it('names no item twice, and has 1 to 100 of them', () => {
    expect(() => plan('t', part('A'), part('A'))).toThrow('names an item twice');
    expect(() => plan('t')).toThrow('1 to 100 items');
    const parts = Array.from({ length: 101 }, (_, index) => part(`T${String(index)}`));
    expect(() => plan('t', ...parts)).toThrow('1 to 100 items');
    expect(plan('t', ...parts.slice(1)).items).toHaveLength(100);
  });

  it('refuses an entry that moves somebody else’s wallet', () => {
    expect(() => recordEntry(entryOf({ debit: 'wallet:bob', credit: WALLET }))).toThrow(RangeError);
    expect(() => recordEntry(entryOf({ debit: 'stripe', credit: 'metrics:bob' }))).toThrow(RangeError);
    // An account may be called `x:alice`.
    expect(() => recordEntry(entryOf({ debit: 'stripe', credit: 'wallet:x:alice' }))).toThrow(RangeError);
  });

  it('refuses an amount above the cap, which a wallet without a balance would let through', () => {
    const cap = decimal('4.99');
    const credit = entryOf({ debit: 'cash:till', credit: WALLET });
    expect(() => recordEntry(credit, { ECOPAY: { kind: 'WITHIN', cap } })).toThrow(RangeError);
    expect(() =>
      checkRoom({ tenant: 'demo', accountId: 'alice', asset: 'ECOPAY' }, decimal('5'), cap),
    ).toThrow(RangeError);
  });
});
