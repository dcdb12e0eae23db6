import { describe, expect, it } from 'vitest';
import {
  overflowIn,
  overflowKeys,
  isOverflowRefund,
  ownerOfOverflow,
} from '../../../../src/ledger/audit/overflow-items.ts';
import { MalformedItemError, type StoredItem } from '../../../../src/ledger/kernel/attributes.ts';
import { ZERO } from '../../../../src/ledger/kernel/money.ts';
import { keyOf } from '../../../../src/ledger/items/plan.ts';
import { putOverflowRefund } from '../../../../src/ledger/items/overflow-refund-item.ts';
import { SAMPLE_ORDER_ID } from '../../../support/sample-orders.ts';
import { entry, paid, posting, refunded } from './audited.ts';

const refund = refunded('re_1', '30', { providerRefundId: 're_1', source: 'DASHBOARD', paymentId: 'pi_1' });

/** The refund's item, as the ledger writes it. */
function item(): StoredItem {
  const [planned] = putOverflowRefund(paid('CHECKOUT'), refund).items;
  if (planned === undefined) throw new Error('a refund that is kept aside has an item');
  // Of a put, the key is the item.
  return keyOf(planned.item);
}

describe('an item of a refund that is kept aside', () => {
  it('is told from other items by its sort key', () => {
    expect(isOverflowRefund(item())).toBe(true);
    expect(isOverflowRefund({ uuid: { S: 'stripe#pi_1' }, type: { S: 'PAYMENT' } })).toBe(false);
  });

  it('holds its own partition, its order and the refund', () => {
    expect(overflowIn(item())).toEqual({ item: 'stripe#re_1', orderId: SAMPLE_ORDER_ID, refund });
  });

  it('is malformed without an order or without a refund', () => {
    for (const name of ['order', 'refund']) {
      const broken = Object.fromEntries(Object.entries(item()).filter(([attribute]) => attribute !== name));
      expect(() => overflowIn(broken)).toThrow(MalformedItemError);
    }
  });

  it('names its owner', () => {
    expect(ownerOfOverflow(item())).toEqual({ tenant: 'demo', accountId: 'alice' });
  });

  it.each([
    ['no tenant', { account: { S: 'alice' } }],
    ['no account', { tenant: { S: 'demo' } }],
    ['a tenant that is none', { tenant: { S: 'stripe' }, account: { S: 'alice' } }],
    ['an account that is none', { tenant: { S: 'demo' }, account: { S: 'a#b' } }],
  ])('has no owner where it names %s', (_, attributes) => {
    expect(ownerOfOverflow(attributes)).toBeUndefined();
  });
});

describe('the items that an account’s audit reads beside the account', () => {
  const full = paid('CHECKOUT', 'PURCHASE', { overflow: { count: 1, succeeded: ZERO, pending: ZERO } });
  const postings = [posting('merchant:cafe', 'stripe', '30')];
  const reported = entry('REFUND', postings, { orderId: SAMPLE_ORDER_ID, providerId: 're_1' });

  it('are those of the refunds that entries of full orders name', () => {
    expect(overflowKeys({ orders: [full], entries: [reported] })).toEqual([
      { uuid: 'stripe#re_1', type: 'REFUND' },
    ]);
  });

  it('are none for orders that keep all of their refunds themselves', () => {
    expect(overflowKeys({ orders: [paid('CHECKOUT')], entries: [reported] })).toEqual([]);
  });

  it.each([
    ['of another order', entry('REFUND', postings, { orderId: 'another', providerId: 're_1' })],
    ['of no order', entry('REFUND', postings, { providerId: 're_1' })],
    ['without the id of the provider', entry('REFUND', postings, { orderId: SAMPLE_ORDER_ID })],
    ['of a dispute', entry('DISPUTE', postings, { orderId: SAMPLE_ORDER_ID, providerId: 'du_1' })],
  ])('are none for an entry %s', (_, other) => {
    expect(overflowKeys({ orders: [full], entries: [other] })).toEqual([]);
  });
});
