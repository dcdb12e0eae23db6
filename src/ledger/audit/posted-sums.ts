import type { Entry } from '../model/entries/entry.ts';
import { type Decimal, ZERO, add, negate } from '../kernel/money.ts';

/** What postings put into an account of the ledger, less what they took out of it. */
export interface PostedSum {
  readonly name: string;
  readonly asset: string;
  readonly sum: Decimal;
}

/** The sum of postings for each account of the ledger and asset. */
export function sumPostings(entries: readonly Pick<Entry, 'postings'>[]): ReadonlyMap<string, PostedSum> {
  const sums = new Map<string, PostedSum>();
  const book = (name: string, asset: string, amount: Decimal): void => {
    const key = `${name}\n${asset}`;
    sums.set(key, { name, asset, sum: add(sums.get(key)?.sum ?? ZERO, amount) });
  };
  for (const { postings } of entries) {
    for (const { debit, credit, asset, amount } of postings) {
      book(credit, asset, amount);
      book(debit, asset, negate(amount));
    }
  }
  return sums;
}
