import { type Entry, METRIC, ledgerAccount } from '../../../../src/ledger/model/entries/entry.ts';
import type { IdempotencyRecord } from '../../../../src/ledger/items/idempotency-record.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { payOrder } from '../../../../src/ledger/model/orders/payments.ts';
import type { PlannedItem } from '../../../../src/ledger/items/plan.ts';
import { openedOrder } from '../../../support/sample-orders.ts';

/*
 * What the golden vectors are made of: the wire format, byte by byte. A fleet of two versions shares one table, and a retry must be
 * the same request, so a change of a vector is a migration (docs/DESIGN.md §3).
 */

export const ORDER_ID = '01HZY3V9QK7F0B6W8N4T2D5XCM';
export const ENTRY_ID = '01HZY3V9QK7F0B6W8N4T2D5XCN';
export const AT_MS = 1_900_000_000_000;
export const POLICY = { sweepAfterMs: 1_800_000 };
export const WALLET = ledgerAccount.wallet('alice');
export const METRICS = ledgerAccount.metrics('alice');

export const ORDER = openedOrder({
  orderId: ORDER_ID,
  amount: '480',
  lines: [{ sku: 'coffee', name: 'Coffee', quantity: 1, unitPrice: decimal('480'), amount: decimal('480') }],
  atMs: AT_MS,
});

export const PAID = payOrder(
  ORDER,
  'WALLET_CHARGE',
  { method: 'WALLET', atMs: AT_MS + 1_000, asset: 'ECOPAY', points: decimal('4'), co2Kg: decimal('4.8') },
  ['notify'],
  { cause: 'WALLET_CHARGED', actor: 'alice', atMs: AT_MS + 1_000 },
);

export const RECORD_REF = { tenant: 'demo', principal: 'alice', operation: 'charge', key: 'k1' };
export const RECORD: IdempotencyRecord = {
  status: 'COMPLETED',
  fingerprint: 'ffff',
  transactionId: 'tx-1',
  outcome: {
    kind: 'ChargeSuccess',
    accountId: 'alice',
    orderId: ORDER_ID,
    entryId: ENTRY_ID,
    asset: 'ECOPAY',
  },
  processedAtMs: AT_MS,
  ttlS: 1_907_776_000,
};
export const CLAIMED: IdempotencyRecord = {
  status: 'PROCESSING',
  fingerprint: 'ffff',
  transactionId: 'tx-1',
  claimOf: { accountId: 'alice', orderId: ORDER_ID, refundId: ENTRY_ID },
  processedAtMs: AT_MS,
  ttlS: 1_907_776_000,
};

export const CHARGE: Entry = {
  tenant: 'demo',
  accountId: 'alice',
  entryId: ENTRY_ID,
  operation: 'CHARGE',
  postings: [
    { debit: WALLET, credit: 'merchant:cafe', asset: 'ECOPAY', amount: decimal('480') },
    { debit: 'issuer', credit: WALLET, asset: 'ECOPAY', amount: decimal('30.50') },
    { debit: 'issuer', credit: METRICS, asset: METRIC.charged, amount: decimal('480') },
    { debit: 'issuer', credit: METRICS, asset: METRIC.co2Kg, amount: decimal('4.80') },
  ],
  orderId: ORDER_ID,
  actor: 'alice',
  atMs: AT_MS,
};

/** An entry that moves 5 between two accounts. */
export function entryOf(accounts: { readonly debit: string; readonly credit: string }): Entry {
  return { ...CHARGE, postings: [{ ...accounts, asset: 'ECOPAY', amount: decimal('5') }] };
}

/** Items as they go out, their order of attributes included. */
export function text(items: readonly PlannedItem[]): string {
  return items.map(({ role, item }) => vector(role, item)).join('\n');
}

export function vector(role: string, item: unknown): string {
  return `${role} ${JSON.stringify(item)}`;
}
