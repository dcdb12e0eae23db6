import { describe, expect, it } from 'vitest';
import { createMetadataSeal } from '../../../../../src/auth/metadata-seal.ts';
import { orderAttributes, readOrder } from '../../../../../src/ledger/items/order-item.ts';
import { toAttributes } from '../../../../../src/ledger/kernel/attributes.ts';
import { add, decimal } from '../../../../../src/ledger/kernel/money.ts';
import type { Order } from '../../../../../src/ledger/model/orders/order.ts';
import { openOrder } from '../../../../../src/ledger/model/orders/payments.ts';
import {
  claimAttempt,
  openSession,
  sessionParameters,
} from '../../../../../src/ledger/model/provider/attempts.ts';
import {
  readSessionMetadata,
  sessionMetadata,
} from '../../../../../src/ledger/model/provider/session-metadata.ts';

const AT_MS = 1_900_000_000_000;
const ORDER_ID = '01Q9GD6E00CXBABCWF138R4VG2';
const LEASE = {
  owner: 'owner',
  leaseEndMs: AT_MS + 30_000,
  request: { principal: 'customer/alice', operation: 'checkout', key: 'k' },
  recordTtlS: 4_000_000_000,
};
const TERMS = {
  successUrl: 'https://a.example',
  cancelUrl: 'https://a.example',
  paymentMethodTypes: ['card'],
};

function orderOf(lines: Order['lines'], fields: Partial<Order> = {}): Order {
  return {
    ...openOrder({
      tenant: 'demo',
      accountId: 'alice',
      orderId: ORDER_ID,
      kind: 'PURCHASE',
      merchantId: 'cafe',
      currency: 'JPY',
      amount: add(...lines.map(({ amount }) => amount)),
      lines,
      actor: 'till-1',
      consented: true,
      hasMetadata: false,
      atMs: AT_MS,
    }),
    ...fields,
  };
}

function lineOf(sku: string, quantity: number, price: string): Order['lines'][number] {
  return {
    sku,
    name: 'A name with 🍣',
    quantity,
    unitPrice: decimal(price),
    amount: decimal(price).times(quantity),
  };
}

describe('the metadata of a session', () => {
  it('describes the order, and has nothing that people wrote', () => {
    const texts = sessionMetadata(orderOf([lineOf('latte', 2, '480'), lineOf('bun', 1, '210')]), 3);
    expect(texts).toEqual({
      tenant: 'demo',
      order_id: `alice/${ORDER_ID}`,
      attempt: '3',
      h_kind: 'PURCHASE',
      h_currency: 'JPY',
      h_amount: '1170',
      h_actor: 'till-1',
      h_merchant: 'cafe',
      h_consented: '1',
      h_l1: 'latte*2*480,bun*1*210',
    });
    expect(readSessionMetadata(texts)).toMatchObject({
      attempt: 3,
      opening: {
        tenant: 'demo',
        accountId: 'alice',
        orderId: ORDER_ID,
        kind: 'PURCHASE',
        merchantId: 'cafe',
        consented: true,
        actor: 'till-1',
        lines: [
          { sku: 'latte', quantity: 2 },
          { sku: 'bun', quantity: 1 },
        ],
      },
    });
  });

  it('stays within what the provider takes, also for the largest order; its lines still add up', () => {
    const lines = Array.from({ length: 99 }, (_, index) =>
      lineOf(`${'s'.repeat(125)}-${String(index % 10)}`, 9_999, '123456789012'),
    );
    const texts = createMetadataSeal(['s'.repeat(32)]).seal(sessionMetadata(orderOf(lines), 100));
    expect(Object.keys(texts).length).toBeLessThanOrEqual(30);
    expect(Math.max(...Object.keys(texts).map((name) => name.length))).toBeLessThanOrEqual(40);
    expect(Math.max(...Object.values(texts).map((text) => text.length))).toBeLessThanOrEqual(500);
    const read = readSessionMetadata(texts)?.opening;
    expect(read?.amount.toFixed()).toBe('122209998899767812');
    expect(add(...(read?.lines ?? []).map(({ amount }) => amount)).toFixed()).toBe('122209998899767812');
  });

  it.each([
    ['lines that do not add up', { h_l1: 'latte*2*481' }],
    ['an unknown kind', { h_kind: 'GIFT' }],
    ['an order id that is none', { order_id: 'alice/1' }],
    ['an email for an account', { order_id: `a@b.example/${ORDER_ID}` }],
    ['a currency that is none', { h_currency: 'XXX' }],
  ])('describes nothing with %s', (_name, changes) => {
    const texts = sessionMetadata(orderOf([lineOf('latte', 2, '480')]), 1);
    expect(readSessionMetadata({ ...texts, ...changes })).toBeUndefined();
  });
});

describe('what is sent', () => {
  it('is frozen with the claim: another secret later sends the same bytes', () => {
    const [one, other] = [
      createMetadataSeal(['1'.repeat(32)]),
      createMetadataSeal(['2'.repeat(32), '1'.repeat(32)]),
    ];
    const claimed = claimAttempt(orderOf([lineOf('latte', 2, '480')]), TERMS, LEASE, AT_MS, one.seal);
    const policy = { sweepAfterMs: 1 };
    const stored = readOrder(toAttributes(orderAttributes(claimed, policy)));
    const parameters = (order: Order): unknown => {
      const attempt = order.attempts[0] ?? expect.fail('no attempt');
      return sessionParameters(order, attempt, []);
    };
    expect(JSON.stringify(parameters(stored))).toBe(JSON.stringify(parameters(claimed)));
    expect(parameters(stored)).toMatchObject({ metadata: { h_kid: expect.any(String) as string } });
    expect(other.isSealed(claimed.attempts[0]?.metadata ?? {})).toBe(true);
    const opened = openSession(
      claimed,
      claimed.attempts[0] ?? expect.fail(),
      { sessionId: 'cs_1', url: 'https://x', expiresAtMs: 1 },
      { actor: 'alice', atMs: AT_MS },
    );
    expect(opened.attempts[0]?.metadata).toBeUndefined();
  });
});

describe('a seal', () => {
  const seal = createMetadataSeal(['1'.repeat(32)]);

  it('holds for what it sealed, in whatever order it comes back', () => {
    const sealed = seal.seal({ a: '1', b: '2' });
    expect(seal.isSealed(Object.fromEntries(Object.entries(sealed).reverse()))).toBe(true);
  });

  it.each([
    ['a changed value', { a: '2' }],
    ['a further one', { c: '' }],
    ['another key', { h_kid: '000000000000' }],
    ['another mac', { h_mac: 'AAAA' }],
  ])('does not hold with %s', (_name, changes) => {
    expect(seal.isSealed({ ...seal.seal({ a: '1', b: '2' }), ...changes })).toBe(false);
  });

  it('does not hold without one', () => {
    expect(seal.isSealed({ a: '1' })).toBe(false);
  });
});
