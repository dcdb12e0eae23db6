import type { AccountItems } from '../../../../src/ledger/audit/audit.ts';
import type { Finding } from '../../../../src/ledger/audit/audit-finding.ts';
import type { Entry, EntryOperation, Posting } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { Order, OrderPayment, Refund, RefundCounts } from '../../../../src/ledger/model/orders/order.ts';
import {
  type OrderFields,
  SAMPLE_AT_MS,
  SAMPLE_ORDER_ID,
  openedOrder,
  sampleRefund,
} from '../../../support/sample-orders.ts';

/** What the audit's rules are shown with: alice's orders of 500 JPY at the café, and entries in literal values. */

export const ORDER_ITEM = `ORDER#${SAMPLE_ORDER_ID}`;
export const ENTRY_ID = '01HZY3V9QK7F0B6W8N4T2D5XE1';
/** The account that holds the order's overpayments. */
export const SURPLUS = `surplus:${SAMPLE_ORDER_ID}`;

/** From its debit to its credit. */
export function posting(debit: string, credit: string, amount: string, asset = 'JPY'): Posting {
  return { debit, credit, asset, amount: decimal(amount) };
}

/** An entry of alice's; it names no order unless it is told to. */
export function entry(
  operation: EntryOperation,
  postings: readonly Posting[],
  fields: Partial<Entry> = {},
): Entry {
  return {
    tenant: 'demo',
    accountId: 'alice',
    entryId: ENTRY_ID,
    operation,
    postings,
    actor: 'stripe',
    atMs: SAMPLE_AT_MS,
    ...fields,
  };
}

const PAYMENTS: Readonly<Record<OrderPayment['method'], OrderPayment>> = {
  CHECKOUT: { method: 'CHECKOUT', atMs: SAMPLE_AT_MS, paymentId: 'pi_1' },
  WALLET: { method: 'WALLET', atMs: SAMPLE_AT_MS, asset: 'ECOPAY' },
  CASH: { method: 'CASH', atMs: SAMPLE_AT_MS, terminalId: 'till' },
};

/** An order that was paid so, with nothing given back. */
export function paid(
  method: OrderPayment['method'],
  kind: Order['kind'] = 'PURCHASE',
  fields: Partial<Order> = {},
  opening: OrderFields = {},
): Order {
  const opened = openedOrder({ kind, amount: '500', ...opening });
  return { ...opened, state: 'PAID', refundable: opened.amount, payment: PAYMENTS[method], ...fields };
}

/** A refund that succeeded. */
export function refunded(refundId: string, amount: string, fields: Partial<Refund> = {}): Refund {
  return { ...sampleRefund(refundId, amount), state: 'SUCCEEDED', ...fields };
}

/** What an order or an overpayment counts that has these refunds. */
export function counts(...refunds: readonly Refund[]): RefundCounts {
  const pendingRefundCount = refunds.filter(({ state }) => state === 'PENDING').length;
  return { refundCount: refunds.length, pendingRefundCount };
}

/** The finding that an amount of the order is off. */
export function off(what: string, expected: string, found: string, offBy: string): Finding {
  return { promise: 'I4', item: ORDER_ITEM, what, expected, found, offBy };
}

/** The finding that something of the order is off which is no amount. */
export function wrong(what: string, expected: string, found: string): Finding {
  return { promise: 'I4', item: ORDER_ITEM, what, expected, found };
}

/** All of alice's account that an audit looks at: nothing, but for what is given. */
export function accountItems(fields: Partial<AccountItems> = {}): AccountItems {
  return {
    tenant: 'demo',
    accountId: 'alice',
    balances: new Map(),
    unmoved: new Set(),
    entries: [],
    orders: [],
    described: [],
    refunds: [],
    unreadable: [],
    ...fields,
  };
}
