import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { putProduct } from '../../../src/ledger/usecases/commands/put-product.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { parseTenants } from '../../../src/config/tenants.ts';
import { type Harness, TEST_TENANTS, admin, makeHarness, merchant, terminal } from '../../support/harness.ts';

/** Tenants whose currencies have three decimals, and none in spite of Stripe's two. */
const MORE_TENANTS = parseTenants(
  Object.fromEntries(
    ['KWD', 'BHD', 'JOD', 'OMR', 'TND', 'ISK', 'UGX'].map((code) => [
      code.toLowerCase(),
      {
        name: code,
        currency: code,
        assets: { ECOPAY: { scale: code === 'ISK' || code === 'UGX' ? 0 : 3, pays: code } },
        paymentMethods: ['card'],
        returnUrls: ['https://shop.example'],
        merchants: { m_1: { name: 'Merchant' } },
      },
    ]),
  ),
  { production: false },
);

let harness: Harness;
let ledger: Ledger;
beforeAll(async () => {
  const tenants = new Map([...TEST_TENANTS, ...MORE_TENANTS]);
  harness = await makeHarness({ endpoint: inject('engineEndpoint'), tenants });
  ({ ledger } = harness);
});
afterAll(() => {
  harness.close();
});

const HOSTILE: readonly unknown[] = [
  '-10.00',
  '-0',
  '0',
  '0.00',
  '0.001',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e3',
  '1E-2',
  '0x1f',
  '0b11',
  '0o17',
  '1_000',
  '1,000',
  '+5',
  '.5',
  '5.',
  ' 10',
  '10 ',
  '１０',
  '',
  '1'.padEnd(41, '0'),
  '1'.padEnd(19, '0'),
  [],
  ['10'],
  true,
  {},
  10,
  0.1,
  10n,
  Number.NaN,
];

/** The ledger before its first read: whatever gets past the checks of input throws. */
function untouchable(): Ledger {
  const touched = (): never => {
    throw new Error('the table was touched');
  };
  return {
    ...ledger,
    store: { get: touched, snapshot: touched, query: touched, queryIndex: touched, scan: touched },
    transactor: { commit: touched },
  };
}

/** Past the types, as a caller in plain JavaScript could: an operation is its own gate. */
const unchecked = (amount: unknown): string => amount as string;

const ORDER_ID = encodeNodeId('Order', 't_1', 'w_1', '01HZY3V9QK7F0B6W8N4T2D5XCM');

type Operation = (on: Ledger, amount: string) => Promise<{ readonly kind: string }>;
const OPERATIONS: readonly (readonly [string, Operation])[] = [
  [
    'createOrder',
    (on, amount) =>
      createOrder(on, admin(), 'k', { merchantId: 'm_1', accountId: 'w_1', amount, description: 'd' }),
  ],
  ['topUp', (on, amount) => topUp(on, terminal(), 'k', { accountId: 'w_1', amount, method: 'CASH' })],
  [
    'adjustBalance',
    (on, amount) =>
      adjustBalance(on, admin(), 'k', { accountId: 'w_1', asset: 'ECOPAY', amount, reason: 'r' }),
  ],
  [
    'putProduct',
    (on, price) =>
      putProduct(on, merchant(), { merchantId: 'm_1', sku: 's', name: 'n', price, active: true }),
  ],
];

describe('hostile amounts', () => {
  for (const [name, operation] of OPERATIONS) {
    it(`are refused by ${name} before anything is read or written`, async () => {
      for (const amount of HOSTILE) {
        // A correction may go down; that it can't go below zero is the table's to say.
        if (name === 'adjustBalance' && amount === '-10.00') continue;
        const outcome = await operation(untouchable(), unchecked(amount));
        expect(outcome.kind, String(amount)).toBe('InvalidInput');
      }
    });
  }

  it('are refused by refund, which must know the order’s currency first, without a trace', async () => {
    await harness.fund('t_1', 'w_1', '50.00');
    for (const amount of HOSTILE) {
      const outcome = await refund(ledger, admin(), 'hostile', {
        orderId: ORDER_ID,
        amount: unchecked(amount),
      });
      // null and absent mean all that remains; anything else that is no amount is refused, whatever the order.
      expect(['InvalidInput', 'NotFound'], String(amount)).toContain(outcome.kind);
    }
    expect(await harness.entries('t_1', 'w_1')).toHaveLength(1);
  });

  it('are refused by refund of an order that there is, and leave its key usable', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'w_1', '10.00');
    for (const amount of HOSTILE) {
      expect(
        (await refund(ledger, admin(), 'k-hostile', { orderId: id, amount: unchecked(amount) })).kind,
        String(amount),
      ).toBe('InvalidInput');
    }
    expect((await refund(ledger, admin(), 'k-hostile', { orderId: id, amount: '1.00' })).kind).toBe(
      'OrderNotRefundable',
    );
    expect((await harness.order('t_1', 'w_1', orderId)).rev).toBe(1);
  });
});

describe('amounts of a currency', () => {
  const open = (tenant: string, amount: string): ReturnType<typeof createOrder> =>
    createOrder(ledger, admin(tenant), harness.key(), {
      merchantId: tenant === 'demo' ? 'cafe' : 'm_1',
      accountId: 'w_1',
      amount,
      description: 'd',
    });

  it.each([
    ['demo', '500'],
    ['kwd', '18.600'],
    ['kwd', '18.61'],
    ['bhd', '1.230'],
    ['jod', '1.230'],
    ['omr', '1.230'],
    ['tnd', '1.230'],
    ['isk', '10'],
    ['ugx', '10'],
    ['t_1', '90071992547409.91'],
  ])('of %s: %s can be ordered', async (tenant, amount) => {
    expect((await open(tenant, amount)).kind).toBe('CreateOrderSuccess');
  });

  it.each([
    ['demo', '500.50'],
    ['kwd', '18.605'],
    ['bhd', '1.235'],
    ['jod', '1.001'],
    ['omr', '1.009'],
    ['tnd', '0.001'],
    ['isk', '10.50'],
    ['ugx', '0.5'],
    ['t_1', '19.999'],
  ])('of %s: %s is refused, never rounded', async (tenant, amount) => {
    expect(await open(tenant, amount)).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['amount'], code: 'bad_scale' }],
    });
  });

  it('above what Stripe can count are too large', async () => {
    for (const amount of ['90071992547409.92', '999999999999999999.99', '1000000000000000000']) {
      expect(await open('t_1', amount)).toMatchObject({
        kind: 'InvalidInput',
        issues: [{ path: ['amount'], code: 'too_large' }],
      });
    }
  });
});

describe('large and long numbers', () => {
  it('are kept to the last digit', async () => {
    const amounts = ['9007199254740993', '12345678901234567.89', '0.01'];
    for (const amount of amounts) await harness.fund('t_1', 'w_long', amount);
    expect(await harness.balance('t_1', 'w_long')).toBe('21352878155975560.9');
    const entries = await harness.entries('t_1', 'w_long');
    expect(entries.map((entry) => entry.postings[0]?.amount.toFixed())).toEqual(amounts);
  });
});

describe('balances', () => {
  it('are compared as numbers: 9.00 does not cover 10.00', async () => {
    await harness.fund('t_1', 'w_9', '9.00');
    const input = { accountId: 'w_9', asset: 'ECOPAY', amount: '-10.00', reason: 'r' };
    expect(await adjustBalance(ledger, admin(), harness.key(), input)).toMatchObject({
      kind: 'InsufficientBalance',
      available: '9.00',
    });
  });

  it('are never taken below zero, nor up past their cap, by an adjustment', async () => {
    const adjust = (amount: string): ReturnType<typeof adjustBalance> =>
      adjustBalance(ledger, admin(), harness.key(), {
        accountId: 'w_cap',
        asset: 'JCREDIT',
        amount,
        reason: 'r',
      });
    // No balance item yet: absence passes any condition on it, so the amount is judged beside.
    expect(await adjust('1000.01')).toEqual({
      kind: 'CapExceeded',
      asset: 'JCREDIT',
      cap: '1000.00',
      room: '1000.00',
      replayed: false,
    });
    expect(await adjust('-0.01')).toMatchObject({ kind: 'InsufficientBalance', available: '0.00' });
    expect((await adjust('999.99')).kind).toBe('AdjustBalanceSuccess');
    expect(await adjust('0.02')).toMatchObject({ kind: 'CapExceeded', room: '0.01' });
    expect((await adjust('0.01')).kind).toBe('AdjustBalanceSuccess');
    expect(await adjust('0.01')).toMatchObject({ kind: 'CapExceeded', room: '0.00' });
    expect(await adjust('-1000.01')).toMatchObject({ kind: 'InsufficientBalance', available: '1000.00' });
    expect((await adjust('-1000.00')).kind).toBe('AdjustBalanceSuccess');
    expect(await harness.balance('t_1', 'w_cap', 'JCREDIT')).toBe('0');
  });

  it('without an item take their first credit, also with a cap, and no more than it', async () => {
    const cash = (accountId: string, amount: string): ReturnType<typeof topUp> =>
      topUp(ledger, terminal('cafe', 'demo'), harness.key(), { accountId, amount, method: 'CASH' });
    expect(await cash('w_new', '50001')).toMatchObject({ kind: 'CapExceeded', cap: '50000', room: '50000' });
    expect((await cash('w_new', '50000')).kind).toBe('TopUpSuccess');
    expect(await cash('w_new', '1')).toMatchObject({ kind: 'CapExceeded', room: '0' });
    expect(await harness.balance('demo', 'w_new')).toBe('50000');
  });

  it('stay within their cap under parallel top-ups', async () => {
    const cash = (): ReturnType<typeof topUp> =>
      topUp(ledger, terminal('cafe', 'demo'), harness.key(), {
        accountId: 'w_many',
        amount: '9000',
        method: 'CASH',
      });
    const kinds = (await Promise.all(Array.from({ length: 12 }, cash))).map((outcome) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'TopUpSuccess')).toHaveLength(5);
    expect(kinds.filter((kind) => kind === 'CapExceeded')).toHaveLength(7);
    expect(await harness.balance('demo', 'w_many')).toBe('45000');
  });
});
