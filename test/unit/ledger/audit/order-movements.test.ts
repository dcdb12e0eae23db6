import { describe, expect, it } from 'vitest';
import { isGoal, moved, movesBetween } from '../../../../src/ledger/audit/order-movements.ts';
import { openedOrder } from '../../../support/sample-orders.ts';
import { SURPLUS, entry, paid, posting } from './audited.ts';

describe('what entries moved for an order', () => {
  const both = entry('PAYMENT', [
    posting('stripe', 'merchant:cafe', '500', 'JPY'),
    posting('wallet:alice', 'merchant:cafe', '30', 'ECOPAY'),
    posting('stripe', 'merchant:bar', '7', 'JPY'),
  ]);
  const back = entry('REFUND', [posting('merchant:cafe', 'stripe', '120', 'JPY')]);
  const toCafe = (name: string): boolean => name === 'merchant:cafe';

  it('is of the operations asked for alone', () => {
    const order = paid('CHECKOUT');
    expect(moved(order, [both, back], ['PAYMENT'], toCafe).toFixed()).toBe('500');
    expect(moved(order, [both, back], ['REFUND'], toCafe).toFixed()).toBe('-120');
    expect(moved(order, [both, back], ['PAYMENT', 'REFUND'], toCafe).toFixed()).toBe('380');
    expect(moved(order, [both, back], ['CHARGE'], toCafe).toFixed()).toBe('0');
  });

  it('is summed over all accounts asked for', () => {
    expect(moved(paid('CHECKOUT'), [both], ['PAYMENT'], () => true).toFixed()).toBe('0');
    const toMerchants = (name: string): boolean => name.startsWith('merchant:');
    expect(moved(paid('CHECKOUT'), [both], ['PAYMENT'], toMerchants).toFixed()).toBe('507');
  });

  it('is counted in the currency, in the asset that a wallet paid with, or in what a top-up credits', () => {
    expect(moved(openedOrder(), [both], ['PAYMENT'], toCafe).toFixed()).toBe('500');
    expect(moved(paid('WALLET'), [both], ['PAYMENT'], toCafe).toFixed()).toBe('30');
    expect(moved(paid('CHECKOUT', 'TOP_UP'), [both], ['PAYMENT'], toCafe).toFixed()).toBe('30');
  });
});

describe("where an order's payment leads to", () => {
  const names = ['merchant:cafe', 'merchant:bar', 'wallet:alice', 'receivable:alice', 'wallet:bob', 'stripe'];

  it('is its merchant', () => {
    expect(names.filter(isGoal(paid('CHECKOUT')))).toEqual(['merchant:cafe']);
  });

  it('is what the customer has and owes, for a top-up', () => {
    expect(names.filter(isGoal(paid('CHECKOUT', 'TOP_UP')))).toEqual(['wallet:alice', 'receivable:alice']);
  });
});

describe('accounts that a posting may be between', () => {
  const ACCOUNTS = [
    'issuer',
    'stripe',
    'cash:till',
    'cash:other',
    'merchant:cafe',
    'merchant:bar',
    'wallet:alice',
    'wallet:bob',
    'metrics:alice',
    'receivable:alice',
    SURPLUS,
    'surplus:another',
  ];

  /** Every pair that is allowed, once each way. */
  function allowed(isAllowed: (debit: string, credit: string) => boolean): readonly string[] {
    const pairs = ACCOUNTS.flatMap((debit) => ACCOUNTS.map((credit) => ({ debit, credit })));
    const found = pairs.filter(({ debit, credit }) => isAllowed(debit, credit));
    return found.map(({ debit, credit }) => `${debit} → ${credit}`).sort();
  }

  function bothWays(...routes: readonly (readonly [string, string])[]): readonly string[] {
    return routes.flatMap(([one, other]) => [`${one} → ${other}`, `${other} → ${one}`]).sort();
  }

  it('of an adjustment are the issuer and what the account itself holds', () => {
    expect(allowed(movesBetween('alice', undefined))).toEqual(
      bothWays(['issuer', 'wallet:alice'], ['issuer', 'metrics:alice']),
    );
  });

  it('of a purchase at the provider are the provider, its merchant and its surplus', () => {
    expect(allowed(movesBetween('alice', paid('CHECKOUT')))).toEqual(
      bothWays(['stripe', 'merchant:cafe'], ['stripe', SURPLUS]),
    );
  });

  it('of a purchase from the wallet are that and its merchant, and what the issuer gives and takes back', () => {
    expect(allowed(movesBetween('alice', paid('WALLET')))).toEqual(
      bothWays(
        ['wallet:alice', 'merchant:cafe'],
        ['issuer', 'wallet:alice'],
        ['issuer', 'metrics:alice'],
        ['issuer', 'receivable:alice'],
        ['stripe', SURPLUS],
      ),
    );
  });

  it('of a top-up in cash are its own terminal, the wallet and what the account owes', () => {
    expect(allowed(movesBetween('alice', paid('CASH', 'TOP_UP')))).toEqual(
      bothWays(['cash:till', 'wallet:alice'], ['cash:till', 'receivable:alice'], ['stripe', SURPLUS]),
    );
  });

  it('of a top-up at the provider are the provider, the wallet and what the account owes', () => {
    expect(allowed(movesBetween('alice', paid('CHECKOUT', 'TOP_UP')))).toEqual(
      bothWays(['stripe', 'wallet:alice'], ['stripe', 'receivable:alice'], ['stripe', SURPLUS]),
    );
  });

  it('of an order that was never paid are those of a surplus payment alone', () => {
    expect(allowed(movesBetween('alice', openedOrder()))).toEqual(bothWays(['stripe', SURPLUS]));
  });
});
