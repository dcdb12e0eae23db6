import { describe, expect, it } from 'vitest';
import { isAudited, judgeAccount, readAccount } from '../../../../src/ledger/audit/audit.ts';
import {
  type AttributeValue,
  type StoredItem,
  toAttributes,
} from '../../../../src/ledger/kernel/attributes.ts';
import { entryAttributes } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { orderAttributes } from '../../../../src/ledger/items/order-item.ts';
import { keyOf } from '../../../../src/ledger/items/plan.ts';
import { putRefund } from '../../../../src/ledger/items/refund-item.ts';
import { SAMPLE_ORDER_ID } from '../../../support/sample-orders.ts';
import { ENTRY_ID, ORDER_ITEM, accountItems, entry, paid, posting, refunded } from './audited.ts';

const REFUND_ITEM = `REFUND#${SAMPLE_ORDER_ID}#re_1`;
const ALICE = { tenant: 'demo', accountId: 'alice' };
const LEGACY = {
  type: 'RECORD',
  assets: ['ECOPAY'],
  isUnmoved: (record: StoredItem) => !('moved' in record),
};

function item(
  type: string,
  attributes: Record<string, AttributeValue> = {},
  uuid = 'demo#alice',
): StoredItem {
  return { uuid: { S: uuid }, type: { S: type }, ...attributes };
}

const order = paid('CHECKOUT');
const payment = entry('PAYMENT', [posting('stripe', 'merchant:cafe', '500')], {
  orderId: SAMPLE_ORDER_ID,
  providerId: 'pi_1',
});
const adjustment = entry('ADJUSTMENT', [posting('issuer', 'wallet:alice', '10', 'ECOPAY')]);

describe('the items that an audit looks at', () => {
  it.each(['BALANCE#ECOPAY', 'METRICS', `ENTRY#${ENTRY_ID}`, ORDER_ITEM, REFUND_ITEM])(
    'are such as %s',
    (type) => {
      expect(isAudited(type)).toBe(true);
    },
  );

  it.each(['PROFILE', 'CODE#1', 'card_op_idem#charge#k1', 'PRODUCT#coffee', 'METRICS#2', 'RECORD'])(
    'are none such as %s',
    (type) => {
      expect(isAudited(type)).toBe(false);
    },
  );

  it('are the records that a migration has yet to move, too', () => {
    expect(isAudited('RECORD', LEGACY)).toBe(true);
    expect(isAudited('PROFILE', LEGACY)).toBe(false);
  });
});

describe('an account as an audit reads it', () => {
  it('has its balances and metrics, entries, orders and refunds', () => {
    const refund = refunded('re_1', '30', { providerRefundId: 're_1', source: 'DASHBOARD' });
    const written = putRefund({ order, refund }).items.map((planned) => keyOf(planned.item));
    const items = [
      item('BALANCE#ECOPAY', { balance: { N: '12.50' } }),
      item('BALANCE#REGIONAL#kyoto', { balance: { N: '3' } }),
      item('METRICS', { charged_total: { N: '480' }, co2_reduction_kg: { N: '4.8' } }),
      toAttributes(entryAttributes(payment)),
      toAttributes(orderAttributes(order, { sweepAfterMs: 1 })),
      ...written,
    ];
    expect(readAccount(ALICE, items)).toEqual(
      accountItems({
        balances: new Map([
          ['ECOPAY', decimal('12.5')],
          ['REGIONAL/kyoto', decimal('3')],
          ['METRIC/CHARGED', decimal('480')],
          ['METRIC/CO2_KG', decimal('4.8')],
        ]),
        entries: [payment],
        orders: [order],
        refunds: [{ ...refund, rev: order.rev }],
      }),
    );
  });

  it.each([
    ['I2', 'BALANCE#ECOPAY', item('BALANCE#ECOPAY'), 'balance'],
    ['I2', 'METRICS', item('METRICS', { charged_total: { N: '1' } }), 'co2_reduction_kg'],
    ['I1', `ENTRY#${ENTRY_ID}`, item(`ENTRY#${ENTRY_ID}`), 'op'],
    ['I4', REFUND_ITEM, item(REFUND_ITEM), 'state'],
  ])('breaks %s where %s can’t be read, and is read on', (promise, name, broken, attribute) => {
    const account = readAccount(ALICE, [broken, toAttributes(entryAttributes(payment))]);
    const found = `malformed item: attribute ${attribute}`;
    expect(account.unreadable).toEqual([{ promise, item: name, what: 'item', expected: 'readable', found }]);
    expect(account.entries).toEqual([payment]);
  });

  it('breaks I4 where an order can’t be read', () => {
    expect(readAccount(ALICE, [item(ORDER_ITEM)]).unreadable).toMatchObject([
      { promise: 'I4', item: ORDER_ITEM, what: 'item', expected: 'readable' },
    ]);
  });

  it('has what was posted for its balance while a migration has yet to move that', () => {
    const items = [
      item('RECORD'),
      item('BALANCE#ECOPAY', { balance: { N: '99' } }),
      item('BALANCE#POINT', { balance: { N: '7' } }),
      toAttributes(entryAttributes(adjustment)),
    ];
    const unmoved = readAccount(ALICE, items, LEGACY);
    expect([...unmoved.unmoved]).toEqual(['ECOPAY']);
    expect(unmoved.balances).toEqual(
      new Map([
        ['ECOPAY', decimal('10')],
        ['POINT', decimal('7')],
      ]),
    );
    const moved = readAccount(ALICE, [item('RECORD', { moved: { BOOL: true } }), ...items.slice(1)], LEGACY);
    expect([...moved.unmoved]).toEqual([]);
    expect(moved.balances.get('ECOPAY')?.toFixed()).toBe('99');
  });
});

describe('an account that an audit judges', () => {
  const finding = (fields: object): object => ({ ...ALICE, ...fields });

  it('has no problem where its promises hold', () => {
    const balances = new Map([['ECOPAY', decimal('10')]]);
    const account = accountItems({ balances, entries: [adjustment, payment], orders: [order] });
    expect(judgeAccount(account)).toEqual([]);
  });

  it.each([
    ['ECOPAY', 'wallet:alice', 'BALANCE#ECOPAY', 'balance'],
    ['REGIONAL/kyoto', 'wallet:alice', 'BALANCE#REGIONAL#kyoto', 'balance'],
    ['METRIC/CHARGED', 'metrics:alice', 'METRICS', 'METRIC/CHARGED'],
    ['METRIC/CO2_KG', 'metrics:alice', 'METRICS', 'METRIC/CO2_KG'],
  ])('holds of %s what was posted to its %s', (asset, name, itemName, what) => {
    const entries = [entry('ADJUSTMENT', [posting('issuer', name, '10', asset)])];
    const holding = (balance: string): unknown =>
      judgeAccount(accountItems({ balances: new Map([[asset, decimal(balance)]]), entries }));
    expect(holding('10')).toEqual([]);
    expect(holding('12')).toEqual([
      finding({ promise: 'I2', item: itemName, what, expected: '10', found: '12', offBy: '2' }),
    ]);
    expect(judgeAccount(accountItems({ entries }))).toEqual([
      finding({ promise: 'I2', item: itemName, what, expected: '10', found: '0', offBy: '-10' }),
    ]);
  });

  it('holds nothing that was never posted, and never less than nothing', () => {
    const here = { promise: 'I2', item: 'BALANCE#POINT', what: 'balance' };
    expect(judgeAccount(accountItems({ balances: new Map([['POINT', decimal('-3')]]) }))).toEqual([
      finding({ ...here, expected: '0', found: '-3', offBy: '-3' }),
      finding({ ...here, expected: 'never negative', found: '-3', offBy: '-3' }),
    ]);
    expect(judgeAccount(accountItems({ balances: new Map([['POINT', decimal('0')]]) }))).toEqual([]);
  });

  it('isn’t asked for balances that a migration has yet to move', () => {
    const balances = new Map([['ECOPAY', decimal('-3')]]);
    expect(judgeAccount(accountItems({ balances, unmoved: new Set(['ECOPAY']) }))).toEqual([]);
  });

  it('has an entry judged with its own order', () => {
    const entries = [{ ...payment, postings: [...payment.postings, posting('stripe', 'merchant:bar', '1')] }];
    expect(judgeAccount(accountItems({ entries, orders: [order] }))).toEqual([
      finding({
        promise: 'I1',
        item: `ENTRY#${ENTRY_ID}`,
        what: 'posting',
        expected: 'accounts that it may move between',
        found: 'stripe → merchant:bar',
      }),
    ]);
  });

  it('has every order judged with its own entries and refunds', () => {
    const found = { promise: 'I4', item: ORDER_ITEM };
    const refunds = [refunded('re_1', '30')];
    expect(judgeAccount(accountItems({ orders: [order], refunds })).map(({ what }) => what)).toEqual([
      'refunded',
      'paid by entries',
      'refunded by entries',
      'payment entries',
      'refund re_1 by entries',
      'refunds',
    ]);
    const another = '01HZY3V9QK7F0B6W8N4T2D5XZZ';
    const entries = [{ ...payment, orderId: another }];
    const others = paid('CHECKOUT', 'PURCHASE', {}, { orderId: another });
    expect(judgeAccount(accountItems({ orders: [order, others], entries }))).toEqual([
      finding({ ...found, what: 'paid by entries', expected: '500', found: '0', offBy: '-500' }),
      finding({ ...found, what: 'payment entries', expected: 'PAYMENT pi_1', found: 'none' }),
    ]);
  });

  it('has no entry and no refund of an order that isn’t there', () => {
    const refunds = [refunded('re_1', '30', { orderId: 'gone' })];
    const stray = { promise: 'I4', what: 'order', expected: 'there' };
    expect(judgeAccount(accountItems({ entries: [payment], refunds }))).toEqual([
      finding({ ...stray, item: `ENTRY#${ENTRY_ID}`, found: `no ${ORDER_ITEM}` }),
      finding({ ...stray, item: 'REFUND#gone#re_1', found: 'no ORDER#gone' }),
    ]);
  });

  it('has what can’t be read among its problems', () => {
    const unreadable = [
      { promise: 'I1', item: 'ENTRY#1', what: 'item', expected: 'readable', found: 'malformed' } as const,
    ];
    expect(judgeAccount(accountItems({ unreadable }))).toEqual([finding({ ...unreadable[0] })]);
  });
});
