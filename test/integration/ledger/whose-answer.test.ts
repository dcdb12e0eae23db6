import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Viewer } from '../../../src/auth/viewer.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { orderKey } from '../../../src/ledger/kernel/keys.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { readOrder } from '../../../src/ledger/items/order-item.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';

/** An answer is given again to the principal that got it, and to no other that uses the same key. */

let harness: Harness;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterAll(() => {
  harness.close();
});

const FAR_MS = 4_000_000_000_000;

/** One name for everybody: only the other claims tell them apart. */
function principal(role: Viewer['role'], merchantId?: string, tenant = 't_1', subject = 'same'): Viewer {
  return { tenant, subject, role, expiresAtMs: FAR_MS, ...(merchantId === undefined ? {} : { merchantId }) };
}

const PRINCIPALS: readonly Viewer[] = [
  principal('CUSTOMER'),
  principal('ADMIN'),
  principal('MERCHANT', 'm_1'),
  principal('MERCHANT', 'm_2'),
  principal('TERMINAL', 'm_1'),
  principal('TERMINAL', 'm_2'),
  principal('TERMINAL', 'm_1', 't_1', 'other'),
];

interface Asked {
  readonly kind: string;
  readonly replayed?: boolean;
}
type Operation = (viewer: Viewer, key: string) => Promise<Asked>;

/** The same request of everybody: an order of m_1's that the customer `same` has paid from the wallet. */
async function operations(): Promise<Readonly<Record<string, Operation>>> {
  const { ledger } = harness;
  await harness.fund('t_1', 'same', '100.00');
  const open = (await harness.openOrder('t_1', 'same', '1.00')).id;
  const paid = (await harness.openOrder('t_1', 'same', '10.00')).id;
  await charge(ledger, principal('CUSTOMER'), harness.key(), { orderId: paid });
  return {
    charge: (viewer, key) => charge(ledger, viewer, key, { orderId: open }),
    refund: (viewer, key) => refund(ledger, viewer, key, { orderId: paid, amount: '1.00' }),
    cancelOrder: (viewer, key) => cancelOrder(ledger, viewer, key, { orderId: open }),
    createOrder: (viewer, key) =>
      createOrder(ledger, viewer, key, {
        merchantId: 'm_1',
        accountId: 'same',
        amount: '3.00',
        description: 'x',
      }),
    topUp: (viewer, key) => topUp(ledger, viewer, key, { accountId: 'same', amount: '5.00', method: 'CASH' }),
    adjustBalance: (viewer, key) =>
      adjustBalance(ledger, viewer, key, {
        accountId: 'same',
        asset: 'ECOPAY',
        amount: '1.00',
        reason: 'a test',
      }),
  };
}

const OPERATIONS = ['charge', 'refund', 'cancelOrder', 'createOrder', 'topUp', 'adjustBalance'] as const;
const PAIRS = OPERATIONS.flatMap((operation) =>
  PRINCIPALS.flatMap((one, first) =>
    PRINCIPALS.slice(first + 1).map((other) => ({
      operation,
      one,
      other,
      pair: `${nameOf(one)} and ${nameOf(other)}`,
    })),
  ),
);

function nameOf({ role, merchantId, subject }: Viewer): string {
  return [role, merchantId, subject].join(' ');
}

describe('the same key', () => {
  it.each(PAIRS)('$operation by $pair: each has an answer of its own', async ({ operation, one, other }) => {
    const run = (await operations())[operation];
    if (run === undefined) throw new Error('no such operation');
    const key = harness.key();
    await run(one, key);
    expect((await run(other, key)).replayed ?? false).toBe(false);
  });

  it('of two tills with one name credits what each of them took', async () => {
    const run = (await operations())['topUp'];
    const before = await harness.balance('t_1', 'same');
    const key = harness.key();
    const tills = [
      principal('TERMINAL', 'm_1', 't_1', 'till-1'),
      principal('TERMINAL', 'm_2', 't_1', 'till-1'),
    ];
    for (const till of [...tills, ...tills]) await run?.(till, key);
    expect(Number(await harness.balance('t_1', 'same')) - Number(before)).toBe(10);
  });
});

describe('a cash top-up', () => {
  it('is refunded by the till that took it, not by another merchant’s of the same name', async () => {
    const { ledger } = harness;
    const till = principal('TERMINAL', 'm_1', 't_1', 'till-1');
    const input = { accountId: 'cash-customer', amount: '5.00', method: 'CASH' as const };
    const made = await topUp(ledger, till, harness.key(), input);
    if (made.kind !== 'TopUpSuccess') throw new Error(made.kind);
    const [item] = await ledger.store.get([
      orderKey({ tenant: 't_1', accountId: made.accountId, orderId: made.orderId }),
    ]);
    expect(item === undefined ? undefined : readOrder(item).payment?.terminalId).toBe('m_1/till-1');
    const orderId = encodeNodeId('Order', 't_1', made.accountId, made.orderId);
    const foreign = principal('TERMINAL', 'm_2', 't_1', 'till-1');
    expect((await refund(ledger, foreign, harness.key(), { orderId })).kind).toBe('NotFound');
    expect(await harness.balance('t_1', 'cash-customer')).toBe('5');
    expect((await refund(ledger, till, harness.key(), { orderId })).kind).toBe('RefundSuccess');
    expect(await harness.balance('t_1', 'cash-customer')).toBe('0');
  });
});
