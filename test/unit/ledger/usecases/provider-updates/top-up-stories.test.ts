import { describe, it, vi } from 'vitest';
import { decimal } from '../../../../../src/ledger/kernel/money.ts';
import type { Order } from '../../../../../src/ledger/model/orders/order.ts';
import { newOrder, refund, tell, withSessions } from './provider-objects.ts';
import type { MemoryLedger } from './memory-ledger.ts';
import type { Ending } from './story.ts';
import {
  PAID,
  claimed,
  completed,
  expectEnding,
  lost,
  now,
  opened,
  ours,
  paidFirst,
  succeeded,
  unpaid,
  won,
} from './story-parts.ts';
/**
 * For each story of a top-up that is given back or disputed: every order of its events, with duplicates and with the same facts told again by other events, ends alike
 * (docs/DESIGN.md §8, "Order of arrival never matters").
 */

// Thousands of events a story: on a busy machine that takes longer than a test usually may.
vi.setConfig({ testTimeout: 60_000 });

describe.each([
  { left: 'all of the value', spent: '0', wallet: '500', taken: '0', receivable: '0' },
  { left: 'half of the value', spent: '250', wallet: '250', taken: '0', receivable: '250' },
  { left: 'none of the value', spent: '500', wallet: '0', taken: '0', receivable: '500' },
])('a top-up with $left left', ({ spent, wallet, taken, receivable }) => {
  const topUp = withSessions(newOrder('TOP_UP'));
  const stillThere: Ending = {
    ...PAID,
    wallet,
    sums: { stripe: '-500', merchant: '0', receivable: '0', overpayment: '0' },
  };
  /** All 500 taken back: what the wallet lacks stands against the account. */
  const takenBack: Ending = {
    ...stillThere,
    wallet: taken,
    receivable,
    sums: {
      stripe: '0',
      merchant: '0',
      receivable: receivable === '0' ? '0' : `-${receivable}`,
      overpayment: '0',
    },
  };
  const base = { order: topUp, first: paidFirst, spent };

  it('credits once, and never again', () =>
    expectEnding({ ...base, events: [completed, succeeded, tell.session('completed', unpaid)] }, stillThere));

  it('refunded in the dashboard', () =>
    expectEnding(
      {
        ...base,
        events: [
          succeeded,
          tell.refund('created', refund('re_1', 500, 'pending')),
          tell.refund('updated', refund('re_1', 500, 'succeeded')),
        ],
      },
      {
        ...takenBack,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['re_1 SUCCEEDED 500'],
      },
    ));

  it('refunded in the dashboard in two parts', () =>
    expectEnding(
      {
        ...base,
        events: [
          tell.refund('created', refund('re_1', 200, 'pending')),
          tell.refund('updated', refund('re_1', 200, 'succeeded')),
          tell.refund('created', refund('re_2', 300, 'succeeded')),
        ],
      },
      {
        ...takenBack,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['re_1 SUCCEEDED 200', 're_2 SUCCEEDED 300'],
      },
    ));

  it('refunded in the dashboard, which fails after all', () =>
    expectEnding(
      {
        ...base,
        events: [
          tell.refund('created', refund('re_1', 500, 'pending')),
          tell.refund('updated', refund('re_1', 500, 'succeeded')),
          tell.refund('failed', refund('re_1', 500, 'failed')),
        ],
      },
      { ...stillThere, refunds: ['re_1 FAILED 500'] },
    ));

  it('disputed and lost', () =>
    expectEnding(
      { ...base, events: [...opened, lost], provider: now('lost') },
      { ...takenBack, disputed: true, disputes: ['du_1 lost 500 true'] },
    ));

  it('disputed, lost, and won after all', () =>
    expectEnding(
      { ...base, events: [...opened, lost, won], provider: now('won') },
      { ...stillThere, disputes: ['du_1 won 500 false'] },
    ));
});

describe('a refund of a top-up that we claimed', () => {
  const takeOut = (memory: MemoryLedger, paid: Order): void => {
    memory.entries.push({
      tenant: 'demo',
      accountId: 'alice',
      entryId: memory.ledger.ids.ulid(0),
      operation: 'REFUND',
      postings: [{ debit: 'wallet:alice', credit: 'stripe', asset: 'ECOPAY', amount: decimal('200') }],
      actor: 'root',
      atMs: 0,
    });
    memory.putChange(claimed(paid, 'rf_a', '200'));
  };
  const base = { order: withSessions(newOrder('TOP_UP')), first: paidFirst, then: takeOut };

  it('succeeds without taking anything more', () =>
    expectEnding(
      {
        ...base,
        events: [
          tell.refund('created', refund('re_1', 200, 'pending', ours('rf_a'))),
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        wallet: '300',
        refundable: '300',
        refunded: '200',
        refunds: ['rf_a SUCCEEDED 200'],
        sums: { stripe: '-300', merchant: '0', receivable: '0', overpayment: '0' },
      },
    ));

  it('puts the value back once when it fails', () =>
    expectEnding(
      {
        ...base,
        spent: '300',
        events: [
          tell.refund('created', refund('re_1', 200, 'pending', ours('rf_a'))),
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours('rf_a'))),
          tell.refund('failed', refund('re_1', 200, 'failed', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        wallet: '200',
        refunds: ['rf_a FAILED 200'],
        sums: { stripe: '-500', merchant: '0', receivable: '0', overpayment: '0' },
      },
    ));
});
