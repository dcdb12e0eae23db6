import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { merchantPayload } from '../../../src/fulfilment/merchant-payload.ts';
import { decodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { sampleRefund } from '../../support/sample-orders.ts';
import { PAID_AT_MS, paidOrder } from './orders.ts';

const AT_MS = PAID_AT_MS + 60_000;
const AT = '2030-03-17T17:47:40.000Z';

/** A purchase of two coffees and a cake that a card paid. */
function cardOrder(): Order {
  return {
    ...paidOrder('notify-merchant:paid'),
    lines: [
      {
        sku: 'coffee',
        name: 'Coffee',
        quantity: 2,
        unitPrice: decimal('4.75'),
        amount: decimal('9.5'),
      },
      { name: 'Cake', quantity: 1, unitPrice: decimal('3'), amount: decimal('3') },
    ],
    reference: 'INV-2030-1',
    payment: { method: 'CHECKOUT', atMs: PAID_AT_MS, paymentId: 'pi_1' },
  };
}

const METADATA = [
  { key: 'cart', value: 'c-77' },
  { key: 'table', value: '４番' },
];

const COMMON = {
  orderId: 'T3JkZXIjdF8xI3VfMSMwMUs5WlpaWlpaWlpaWlpaWlpaWlpaWlpaWg',
  version: 2,
  state: 'PAID',
  merchantId: 'm_1',
  accountId: 'u_1',
  currency: 'USD',
  amount: '12.50',
  refundedAmount: '0.00',
  refundPendingAmount: '0.00',
  refundableAmount: '12.50',
  disputed: false,
  reference: 'INV-2030-1',
  lines: [
    { sku: 'coffee', name: 'Coffee', quantity: 2, unitPrice: '4.75', amount: '9.50' },
    { name: 'Cake', quantity: 1, unitPrice: '3.00', amount: '3.00' },
  ],
  createdAt: '2030-03-17T17:46:39.000Z',
  method: 'CHECKOUT',
  paidAt: '2030-03-17T17:46:40.000Z',
  providerReference: 'pi_1',
};

describe('what a merchant is told', () => {
  it('of a paid order: what it is made of, whose it is, how it was paid', () => {
    expect(merchantPayload(cardOrder(), { kind: 'paid' }, METADATA)).toEqual({
      type: 'order.paid',
      payloadVersion: 1,
      timestamp: '2030-03-17T17:46:40.000Z',
      data: { ...COMMON, metadata: { cart: 'c-77', table: '４番' } },
    });
    expect(decodeNodeId(COMMON.orderId)).toEqual({
      kind: 'Order',
      parts: ['t_1', 'u_1', '01K9ZZZZZZZZZZZZZZZZZZZZZZ'],
    });
  });

  it.each([
    ['failed', 'order.failed', 'FAILED'],
    ['expired', 'order.expired', 'EXPIRED'],
    ['canceled', 'order.canceled', 'CANCELED'],
  ] as const)('of an order that %s: no payment', (kind, type, state) => {
    const order: Order = { ...cardOrder(), state, refundable: decimal('0'), payment: undefined };
    const { method, paidAt, providerReference, ...unpaid } = COMMON;
    expect([method, paidAt, providerReference]).not.toContain(undefined);
    expect(merchantPayload(order, { kind, atMs: AT_MS }, [])).toEqual({
      type,
      payloadVersion: 1,
      timestamp: AT,
      data: { ...unpaid, state, refundableAmount: '0.00' },
    });
  });

  it.each([
    ['refunded', 'order.refunded', 'SUCCEEDED', undefined],
    ['refund-failed', 'order.refund_failed', 'FAILED', 'lost_or_stolen_card'],
  ] as const)(
    'of a refund, %s: the order as it is now, and the refund',
    (kind, type, state, failureReason) => {
      const order: Order = {
        ...cardOrder(),
        version: 9,
        refunded: decimal('2.5'),
        refundable: decimal('10'),
      };
      const refund = { ...sampleRefund('re_1', '2.5'), state, reason: 'cold', failureReason };
      const payload = merchantPayload(order, { kind, refundId: 're_1', atMs: AT_MS }, [], refund);
      const refundId = payload.data.refund?.refundId ?? '';
      expect(payload).toEqual({
        type,
        payloadVersion: 1,
        timestamp: AT,
        data: {
          ...COMMON,
          version: 9,
          refundedAmount: '2.50',
          refundableAmount: '10.00',
          refund: {
            refundId,
            amount: '2.50',
            currency: 'USD',
            state,
            reason: 'cold',
            ...(failureReason === undefined ? {} : { failureReason }),
          },
        },
      });
      expect(decodeNodeId(refundId)?.parts).toEqual(['t_1', 'u_1', '01K9ZZZZZZZZZZZZZZZZZZZZZZ', 're_1']);
    },
  );

  it.each([
    ['disputed', 'order.disputed', 'open', '0.00', true],
    ['dispute-lost', 'order.dispute_lost', 'lost', '0.00', true],
    ['dispute-won', 'order.dispute_won', 'won', '12.50', false],
  ] as const)(
    'of a dispute, %s: what can be refunded beside it',
    (kind, type, status, refundableAmount, disputed) => {
      const order: Order = {
        ...cardOrder(),
        disputes: [
          {
            disputeId: 'dp_1',
            paymentId: 'pi_1',
            status,
            amount: decimal('12.5'),
            recorded: status === 'lost',
            ofOverpayment: false,
            reason: 'fraudulent',
            dueByMs: AT_MS,
          },
        ],
      };
      expect(merchantPayload(order, { kind, disputeId: 'dp_1', atMs: AT_MS }, [])).toEqual({
        type,
        payloadVersion: 1,
        timestamp: AT,
        data: {
          ...COMMON,
          refundableAmount,
          disputed,
          dispute: {
            disputeId: 'dp_1',
            amount: '12.50',
            currency: 'USD',
            status,
            reason: 'fraudulent',
            dueBy: AT,
          },
        },
      });
    },
  );

  it('has the fields that docs/FOLLOW-UPS.md shows, and no others', () => {
    const page = readFileSync(new URL('../../../docs/FOLLOW-UPS.md', import.meta.url), 'utf8');
    const shown = /^\{\n {2}"type"[\s\S]+?^\}$/m.exec(page)?.[0] ?? '';
    const documented = JSON.parse(shown) as { readonly data: object };
    const payload = merchantPayload(cardOrder(), { kind: 'paid' }, METADATA);
    expect(Object.keys(documented)).toEqual(Object.keys(payload));
    expect(Object.keys(documented.data)).toEqual(Object.keys(payload.data));
  });
});
