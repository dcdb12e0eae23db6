import { afterEach, describe, expect, inject, it } from 'vitest';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { putProduct } from '../../../src/ledger/usecases/commands/put-product.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { putOrder } from '../../../src/ledger/items/order-writes.ts';
import type { Attempt, Order } from '../../../src/ledger/model/orders/order.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { type Harness, customer, makeHarness, merchant } from '../../support/harness.ts';
import { openedOrder } from '../../support/sample-orders.ts';

/** Limits on everything, each refused by its name (docs/DESIGN.md §3). */

let harness: Harness;
afterEach(() => {
  harness.close();
});

async function start(): Promise<void> {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
}

describe('an order', () => {
  async function ordered(lines: number): Promise<Awaited<ReturnType<typeof createOrder>>> {
    const items = Array.from({ length: lines }, (_, index) => ({ sku: `tea-${String(index)}`, quantity: 1 }));
    return createOrder(harness.ledger, customer('u_1'), harness.key(), { merchantId: 'm_1', items });
  }

  it('has 99 lines, and not 100', async () => {
    await start();
    for (let index = 0; index < 100; index += 1) {
      const product = { merchantId: 'm_1', sku: `tea-${String(index)}`, name: 'Tea', price: '0.25' };
      const put = await putProduct(harness.ledger, merchant(), { ...product, active: true });
      expect(put.kind).toBe('PutProductSuccess');
    }
    const most = await ordered(99);
    if (most.kind !== 'CreateOrderSuccess') throw new Error(most.kind);
    const { lines, amount } = await harness.order('t_1', 'u_1', most.orderId);
    expect([lines.length, amount.toFixed()]).toEqual([99, '24.75']);
    expect(await ordered(100)).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['items'], code: 'too_large' }],
    });
  });

  it('is refunded a hundred times, and not once more', async () => {
    await start();
    await harness.fund('t_1', 'u_1', '10.00');
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '10.00');
    await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: id });
    const creditReceivableThenWallet = () =>
      refund(harness.ledger, merchant(), harness.key(), { orderId: id, amount: '0.01' });
    for (let made = 0; made < 100; made += 1)
      expect((await creditReceivableThenWallet()).kind).toBe('RefundSuccess');
    expect(await creditReceivableThenWallet()).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['orderId'], code: 'too_many_refunds' }],
    });
    const order = await harness.order('t_1', 'u_1', orderId);
    expect([order.refundCount, order.refunded.toFixed(), order.refundable.toFixed()]).toEqual([
      100,
      '1',
      '9',
    ]);
    expect(await harness.refunds('t_1', 'u_1', orderId)).toHaveLength(100);
    expect(await harness.balance('t_1', 'u_1')).toBe('1');
  });
});

describe('an order whose payment pages have all expired', () => {
  /** Nobody may call the provider here: that a page is asked for is a claim that then fails. */
  async function expired(attempts: number): Promise<string> {
    const { ledger } = harness;
    const atMs = ledger.clock.nowMs();
    const opened = openedOrder({
      tenant: 't_1',
      accountId: 'u_1',
      orderId: ledger.ids.ulid(atMs),
      merchantId: 'm_1',
      currency: 'USD',
      amount: '5.00',
      atMs,
    });
    const order: Order = {
      ...opened,
      state: 'EXPIRED',
      attempts: Array.from({ length: attempts }, (_, index): Attempt => ({
        number: index + 1,
        state: 'CLOSED',
        sessionId: `cs_${String(index + 1)}`,
        successUrl: 'https://shop.example',
        cancelUrl: 'https://shop.example',
        paymentMethodTypes: ['card'],
        itemized: false,
        expiresAtMs: atMs,
        tries: 1,
      })),
    };
    const result = await commit(ledger, plan(ledger.ids.token(), putOrder(order, ledger.settings)));
    expect(result.kind).toBe('COMMITTED');
    return encodeNodeId('Order', 't_1', 'u_1', order.orderId);
  }

  const again = (orderId: string) =>
    checkout(harness.ledger, customer('u_1'), harness.key(), {
      orderId,
      successUrl: 'https://shop.example/paid',
      cancelUrl: 'https://shop.example/back',
    });

  it('gets a hundredth one, and no further', async () => {
    await start();
    const last = await expired(99);
    await expect(again(last)).rejects.toThrow('the provider was called');
    const none = await expired(100);
    expect(await again(none)).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['orderId'], code: 'too_many_attempts' }],
    });
  });
});
