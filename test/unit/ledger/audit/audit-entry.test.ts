import { describe, expect, it } from 'vitest';
import { objectionToEntry } from '../../../../src/ledger/audit/audit-entry.ts';
import type { Posting } from '../../../../src/ledger/model/entries/entry.ts';
import { SAMPLE_ORDER_ID } from '../../../support/sample-orders.ts';
import { ENTRY_ID, entry, paid, posting } from './audited.ts';

const OF_ORDER = { orderId: SAMPLE_ORDER_ID };
const order = paid('CHECKOUT');

/** What is said of an entry whose order isn't there, so that its postings alone are judged. */
function objectionTo(...postings: readonly Posting[]): unknown {
  return objectionToEntry(entry('PAYMENT', postings, OF_ORDER), undefined);
}

function broken(what: string, expected: string, found: string): unknown {
  return { promise: 'I1', item: `ENTRY#${ENTRY_ID}`, what, expected, found };
}

describe('an entry', () => {
  it('of its order, between the accounts of that, is as it should be', () => {
    const payment = entry('PAYMENT', [posting('stripe', 'merchant:cafe', '500')], OF_ORDER);
    expect(objectionToEntry(payment, order)).toBeUndefined();
  });

  it('has at least one posting', () => {
    expect(objectionTo()).toEqual(broken('postings', 'at least one', 'none'));
  });

  it.each(['0', '-1.5'])('moves more than nothing, so not %s', (amount) => {
    expect(objectionTo(posting('stripe', 'merchant:cafe', amount))).toEqual(
      broken('amount', 'above 0', amount),
    );
  });

  it('moves something between two accounts, not from one to itself', () => {
    expect(objectionTo(posting('stripe', 'stripe', '1'))).toEqual(
      broken('accounts', 'two different ones', 'stripe'),
    );
  });

  it.each([
    'stripe',
    'wallet:alice',
    'metrics:alice',
    'receivable:alice',
    'merchant:bar',
    'merchant:a:b',
    'cash:till',
    'surplus:1',
  ])('may know the account %s', (name) => {
    expect(objectionTo(posting('issuer', name, '1'))).toBeUndefined();
    expect(objectionTo(posting(name, 'issuer', '1'))).toBeUndefined();
  });

  it.each([
    'bank',
    'bank:1',
    'merchant',
    'merchant:',
    'merchant:a#b',
    'stripe:1',
    'wallet:bob',
    'metrics:bob',
    'receivable:bob',
  ])('of alice doesn’t know the account %s', (name) => {
    const finding = broken('account', 'a known one', name);
    expect(objectionTo(posting('issuer', name, '1'))).toEqual(finding);
    expect(objectionTo(posting(name, 'issuer', '1'))).toEqual(finding);
  });

  it.each(['ECOPAY', 'POINT', 'JCREDIT', 'REGIONAL/kyoto', 'JPY', 'METRIC/CHARGED', 'METRIC/CO2_KG'])(
    'may move %s',
    (asset) => {
      expect(objectionTo(posting('stripe', 'merchant:cafe', '1', asset))).toBeUndefined();
    },
  );

  it.each(['GOLD', 'REGIONAL/', 'METRIC/OTHER', 'jpy'])('moves nothing like %s', (asset) => {
    expect(objectionTo(posting('stripe', 'merchant:cafe', '1', asset))).toEqual(
      broken('asset', 'a known one', asset),
    );
  });

  it('names its order, unless it is an adjustment', () => {
    const postings = [posting('issuer', 'wallet:alice', '1', 'ECOPAY')];
    expect(objectionToEntry(entry('ADJUSTMENT', postings), undefined)).toBeUndefined();
    expect(objectionToEntry(entry('CHARGE', postings), undefined)).toEqual(broken('order', 'named', 'none'));
  });

  it('moves nothing between accounts that its order has nothing to do with', () => {
    const postings = [posting('stripe', 'merchant:cafe', '500'), posting('stripe', 'merchant:bar', '1')];
    expect(objectionToEntry(entry('PAYMENT', postings, OF_ORDER), order)).toEqual(
      broken('posting', 'accounts that it may move between', 'stripe → merchant:bar'),
    );
  });

  it('of an adjustment moves nothing but from and to the issuer', () => {
    const postings = [posting('stripe', 'wallet:alice', '1', 'ECOPAY')];
    expect(objectionToEntry(entry('ADJUSTMENT', postings), undefined)).toEqual(
      broken('posting', 'accounts that it may move between', 'stripe → wallet:alice'),
    );
  });

  it('is one finding, the first, however much is wrong with it', () => {
    const postings = [posting('stripe', 'merchant:bar', '1'), posting('bank', 'bank', '0')];
    expect(objectionToEntry(entry('PAYMENT', postings), order)).toEqual(broken('amount', 'above 0', '0'));
  });
});
