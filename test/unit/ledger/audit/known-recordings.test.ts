import { describe, expect, it } from 'vitest';
import {
  type KnownRecording,
  recordedOnce,
  itemOf,
  countedOnce,
  outOf,
  partitioned,
} from '../../../../src/ledger/audit/known-recordings.ts';
import type { Entry } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { ORDER_ITEM, entry, off, paid, posting, wrong } from './audited.ts';

const order = paid('CHECKOUT');

function known(id: string, recorded: string, providerId?: string): KnownRecording {
  return { id, recorded: decimal(recorded), providerId };
}

function taken(amount: string, ids: Pick<Entry, 'refundId' | 'providerId'>): Entry {
  return entry('REFUND', [posting('merchant:cafe', 'stripe', amount)], ids);
}

describe('what an order keeps', () => {
  it('is named by the sort key of the order', () => {
    expect(itemOf(order)).toBe(ORDER_ITEM);
  });

  it('is kept once, also where our id is the provider’s', () => {
    expect(
      countedOnce(order, 'refund', [
        known('rf_1', '1', 're_1'),
        known('re_2', '1', 're_2'),
        known('re_3', '1'),
      ]),
    ).toEqual([]);
  });

  it('is found where it is kept again, by our id', () => {
    expect(
      countedOnce(order, 'refund', [
        known('rf_1', '1', 're_1'),
        known('rf_1', '1', 're_2'),
        known('rf_1', '1', 're_3'),
      ]),
    ).toEqual([wrong('refund rf_1', 'kept once', '3 times')]);
  });

  it('is found where it is kept again, by the id of the provider, whichever way that is kept', () => {
    expect(countedOnce(order, 'refund', [known('rf_1', '1', 're_1'), known('re_1', '1')])).toEqual([
      wrong('refund re_1', 'kept once', '2 times'),
    ]);
  });
});

describe('what an order books', () => {
  const sumOf = (entries: readonly Entry[]) => outOf('merchant:cafe', 'JPY', entries);
  const judge = (kept: readonly KnownRecording[], entries: readonly Entry[]) =>
    recordedOnce(order, 'refund', kept, entries, sumOf);

  it('is what its entries come to, by our id or else by the provider’s', () => {
    const kept = [known('rf_1', '100', 're_1'), known('re_2', '30'), known('rf_3', '0')];
    const entries = [
      taken('60', { refundId: 'rf_1', providerId: 're_2' }),
      taken('40', { refundId: 'rf_1' }),
      taken('30', { providerId: 're_2' }),
    ];
    expect(judge(kept, entries)).toEqual([]);
  });

  it('is found where no entry books it, where one does so twice, and where one does though none should', () => {
    const twice = [taken('30', { refundId: 'rf_2' }), taken('30', { refundId: 'rf_2' })];
    expect(
      judge(
        [known('rf_1', '100'), known('rf_2', '30'), known('rf_3', '0')],
        [...twice, taken('8', { refundId: 'rf_3' })],
      ),
    ).toEqual([
      off('refund rf_1 by entries', '100', '0', '-100'),
      off('refund rf_2 by entries', '30', '60', '30'),
      off('refund rf_3 by entries', '0', '8', '8'),
    ]);
  });

  it('is found where its entries are of something that the order doesn’t know, or of nothing', () => {
    expect(judge([], [taken('5', { providerId: 're_9' }), taken('7', {})])).toEqual([
      off('refund re_9 by entries', '0', '5', '5'),
      off('refund without an id by entries', '0', '7', '7'),
    ]);
  });
});

describe('what entries took out of an account', () => {
  it('is what they debited less what they credited, in the asset asked for', () => {
    const entries = [
      entry('REFUND', [
        posting('merchant:cafe', 'stripe', '100'),
        posting('merchant:cafe', 'wallet:alice', '9', 'ECOPAY'),
      ]),
      entry('PAYMENT', [posting('stripe', 'merchant:cafe', '30')]),
    ];
    expect(outOf('merchant:cafe', 'JPY', entries).toFixed()).toBe('70');
    expect(outOf('stripe', 'JPY', entries).toFixed()).toBe('-70');
    expect(outOf('merchant:cafe', 'ECOPAY', entries).toFixed()).toBe('9');
    expect(outOf('merchant:bar', 'JPY', entries).toFixed()).toBe('0');
  });
});

describe('values in two parts', () => {
  it('are each in one of them, in the order that they came in', () => {
    expect(partitioned([3, 1, 4, 1, 5], (value) => value > 2)).toEqual([
      [3, 4, 5],
      [1, 1],
    ]);
  });
});
