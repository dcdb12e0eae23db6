import { describe, expect, it } from 'vitest';
import { ZERO, decimal, plainDecimal } from '../../../../../src/ledger/kernel/money.ts';
import type { Entry, Posting } from '../../../../../src/ledger/model/entries/entry.ts';
import type { Order, Refund } from '../../../../../src/ledger/model/orders/order.ts';
import { missingEntry, recordingOf } from '../../../../../src/ledger/model/provider/provider-recordings.ts';
import { decideRefund } from '../../../../../src/ledger/model/provider/refunds.ts';
import { SAMPLE_AT_MS, openedOrder, sampleRefund } from '../../../../support/sample-orders.ts';

/** What a refund of a top-up puts back when it fails (docs/DESIGN.md §8). */

const REFUND_ID = '01HZY3V9QK7F0B6W8N4T2D5XR2';
const context = { atMs: SAMPLE_AT_MS, entryId: '01HZY3V9QK7F0B6W8N4T2D5XCN', stepNames: () => [] };

/** A top-up of 500 that owes so much. */
function owing(receivable: string): Order {
  const order = openedOrder({ kind: 'TOP_UP', amount: '500' });
  const payment = { method: 'CHECKOUT', atMs: SAMPLE_AT_MS, paymentId: 'pi_1' } as const;
  return { ...order, state: 'PAID', payment, refundCount: 1, receivable: decimal(receivable) };
}

function refundOf(source: Refund['source'], state: Refund['state']): Refund {
  const refundId = source === 'REQUESTED' ? REFUND_ID : 're_1';
  return { ...sampleRefund(refundId, '100'), paymentId: 'pi_1', providerRefundId: 're_1', source, state };
}

function moves(entry: Entry | undefined): readonly string[] {
  return (entry?.postings ?? []).map(
    ({ debit, credit, amount }: Posting) => `${debit} ${credit} ${plainDecimal(amount)}`,
  );
}

/** What is put back when it fails, and what is owed then. */
function failed(source: Refund['source'], receivable: string, shortfall: string): readonly string[] {
  const details = {
    providerRefundId: 're_1',
    paymentId: 'pi_1',
    state: 'FAILED',
    amountMinor: 100,
    currency: 'JPY',
  } as const;
  const wallet = { balance: ZERO, shortfall: decimal(shortfall) };
  const decision = decideRefund(owing(receivable), refundOf(source, 'SUCCEEDED'), details, wallet, context);
  if (decision.kind !== 'CHANGE') throw new Error(decision.detail);
  return [...moves(decision.entry), plainDecimal(decision.after.receivable)];
}

describe('a refund of a top-up that we were asked for and that fails', () => {
  it('puts back into the wallet what it took, whatever is owed', () => {
    expect(failed('REQUESTED', '70', '0')).toEqual(['stripe wallet:alice 100', '70']);
  });

  it('that was found at the provider after a loss puts back what the wallet lacked too', () => {
    expect(failed('REQUESTED', '70', '40')).toEqual([
      'stripe receivable:alice 40',
      'stripe wallet:alice 60',
      '30',
    ]);
  });

  it('pays nothing twice that was paid meanwhile', () => {
    expect(failed('REQUESTED', '10', '40')).toEqual([
      'stripe receivable:alice 10',
      'stripe wallet:alice 90',
      '0',
    ]);
  });
});

it('a refund of a top-up that was made in the dashboard pays what is owed first when it fails', () => {
  expect(failed('DASHBOARD', '70', '0')).toEqual([
    'stripe receivable:alice 70',
    'stripe wallet:alice 30',
    '0',
  ]);
});

describe('the entry that a failed refund of a top-up lacks', () => {
  const missing = (
    source: Refund['source'],
    receivable: string,
    ...took: readonly Posting[]
  ): readonly string[] => {
    const refund = refundOf(source, 'FAILED');
    const order = owing(receivable);
    const what = recordingOf(order, [refund], refund.refundId);
    if (what === undefined) throw new Error('no such recording');
    const { refundId } = refund;
    const taken = {
      ...order,
      entryId: 'e_1',
      operation: 'REFUND',
      postings: took,
      refundId,
      atMs: 1,
    } as const;
    return moves(missingEntry(order, what, [taken], ZERO, context));
  };
  const out = (debit: string, amount: string): Posting => {
    return { debit, credit: 'stripe', asset: 'ECOPAY', amount: decimal(amount) };
  };

  it('puts back what it took, and pays no debt with it where we were asked for it', () => {
    expect(missing('REQUESTED', '70', out('wallet:alice', '100'))).toEqual(['stripe wallet:alice 100']);
    expect(missing('REQUESTED', '70', out('wallet:alice', '60'), out('receivable:alice', '40'))).toEqual([
      'stripe receivable:alice 40',
      'stripe wallet:alice 60',
    ]);
  });

  it('pays what is owed first where it was made in the dashboard', () => {
    expect(missing('DASHBOARD', '70', out('wallet:alice', '100'))).toEqual([
      'stripe receivable:alice 70',
      'stripe wallet:alice 30',
    ]);
  });
});
