import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { putProduct } from '../../../src/ledger/usecases/commands/put-product.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import type { Tenant } from '../../../src/config/tenants.ts';
import { type Harness, admin, customer, makeHarness, merchant, terminal } from '../../support/harness.ts';

/**
 * A tenant's file changes between a request whose answer was lost and its retry. What was committed is what the retry is
 * told: the idempotency record is looked for before anything is judged that changes with time (docs/DESIGN.md §5.3).
 */

let harness: Harness;
let ledger: Ledger;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  ({ ledger } = harness);
});
afterAll(() => {
  harness.close();
});

function withTenant(change: (tenant: Tenant) => Tenant): Ledger {
  const tenant = ledger.tenants.get('t_1');
  if (tenant === undefined) throw new Error('no tenant');
  return { ...ledger, tenants: new Map([...ledger.tenants, ['t_1', change(tenant)]]) };
}

const withoutAssets = (): Ledger => withTenant((tenant) => ({ ...tenant, assets: new Map() }));
const withoutMerchants = (): Ledger => withTenant((tenant) => ({ ...tenant, merchants: new Map() }));

describe('a retry after its tenant has changed', () => {
  it('of a cash top-up is told of its credit', async () => {
    const key = harness.key();
    const input = { accountId: 'w_1', amount: '10.00', method: 'CASH' as const };
    expect((await topUp(ledger, terminal(), key, input)).kind).toBe('TopUpSuccess');
    const again = await topUp(withoutAssets(), terminal(), key, input);
    expect(again).toMatchObject({ kind: 'TopUpSuccess', replayed: true });
    expect(await topUp(withoutAssets(), terminal(), harness.key(), input)).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['asset'], code: 'unknown_asset' }],
    });
    expect(await harness.balance('t_1', 'w_1')).toBe('10');
  });

  it('of a charge is told of its debit', async () => {
    await harness.fund('t_1', 'w_2', '50.00');
    const { id: orderId } = await harness.openOrder('t_1', 'w_2', '20.00');
    const key = harness.key();
    expect((await charge(ledger, customer('w_2'), key, { orderId })).kind).toBe('ChargeSuccess');
    const again = await charge(withoutAssets(), customer('w_2'), key, { orderId });
    expect(again).toMatchObject({ kind: 'ChargeSuccess', replayed: true });
    expect(await harness.balance('t_1', 'w_2')).toBe('30');
  });

  it('of an order is told of that order, though the merchant has gone', async () => {
    const key = harness.key();
    const input = { merchantId: 'm_1', accountId: 'w_3', amount: '4.80', description: 'coffee' };
    const opened = await createOrder(ledger, merchant(), key, input);
    if (opened.kind !== 'CreateOrderSuccess') throw new Error(opened.kind);
    expect(await createOrder(withoutMerchants(), merchant(), key, input)).toEqual({
      ...opened,
      replayed: true,
    });
    expect(await createOrder(withoutMerchants(), merchant(), harness.key(), input)).toEqual({
      kind: 'NotFound',
    });
  });

  it('of an adjustment is told of its entry', async () => {
    const key = harness.key();
    const input = { accountId: 'w_4', asset: 'POINT', amount: '7', reason: 'campaign' };
    expect((await adjustBalance(ledger, admin(), key, input)).kind).toBe('AdjustBalanceSuccess');
    const again = await adjustBalance(withoutAssets(), admin(), key, input);
    expect(again).toMatchObject({ kind: 'AdjustBalanceSuccess', replayed: true });
    expect(await harness.balance('t_1', 'w_4', 'POINT')).toBe('7');
  });
});

describe('a product whose price is in another currency than its tenant has by now', () => {
  it('is not sold: 4.80 dollars are no 4.80 dinars', async () => {
    const product = { merchantId: 'm_1', sku: 'coffee', name: 'Coffee', price: '4.80', active: true };
    expect((await putProduct(ledger, merchant(), product)).kind).toBe('PutProductSuccess');
    const input = { merchantId: 'm_1', items: [{ sku: 'coffee', quantity: 1 }] };
    const inDinars = withTenant((tenant) => ({ ...tenant, currency: 'KWD' }));
    expect(await createOrder(inDinars, customer('w_5'), harness.key(), input)).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['items', '0', 'sku'], code: 'unknown_sku' }],
    });
    expect((await createOrder(ledger, customer('w_5'), harness.key(), input)).kind).toBe(
      'CreateOrderSuccess',
    );
  });
});
