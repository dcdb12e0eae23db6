import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { putProduct } from '../../../src/ledger/usecases/commands/put-product.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import {
  claimAttempt,
  closeUnopened,
  sessionParameters,
} from '../../../src/ledger/model/provider/attempts.ts';
import { readMetadataOf } from '../../../src/ledger/usecases/queries/read-order-metadata.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { customer, merchant } from '../../support/harness.ts';
import { type ProviderHarness, URLS, makeProviderHarness } from './support.ts';

/** What the customer reads on the payment page, and what the provider keeps for the merchant. */

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
  for (const [sku, name, price] of [
    ['coffee', 'Coffee', '4.80'],
    ['toast', `Toast ${'o'.repeat(193)}🍣`, '3.50'],
  ] as const)
    await putProduct(harness.ledger, merchant(), { merchantId: 'm_1', sku, name, price, active: true });
});
afterAll(async () => {
  await harness.stop();
});

async function opened(metadata?: { readonly key: string; readonly value: string }[]): Promise<Order> {
  const input = {
    merchantId: 'm_1',
    items: [
      { sku: 'coffee', quantity: 2 },
      { sku: 'toast', quantity: 1 },
    ],
    metadata,
  };
  const outcome = await createOrder(harness.ledger, customer('u_1'), harness.key(), input);
  if (outcome.kind !== 'CreateOrderSuccess') throw new Error(outcome.kind);
  return harness.order('t_1', 'u_1', outcome.orderId);
}

async function checkedOut({ orderId }: Order): Promise<Order> {
  const id = encodeNodeId('Order', 't_1', 'u_1', orderId);
  const outcome = await checkout(harness.ledger, customer('u_1'), harness.key(), { orderId: id, ...URLS });
  expect(outcome.kind).toBe('CheckoutSuccess');
  return harness.order('t_1', 'u_1', orderId);
}

async function fromStripe(path: string): Promise<Record<string, unknown>> {
  const answer = await fetch(`${harness.simulator.url}${path}`, {
    headers: { authorization: 'Bearer sk_test_1' },
  });
  // The simulator answers as Stripe does.
  return (await answer.json()) as Record<string, unknown>;
}

describe('a payment page', () => {
  it('shows every line with its name, quantity and price', async () => {
    const { attempts } = await checkedOut(await opened());
    const [attempt] = attempts;
    expect(attempt?.itemized).toBe(true);
    const path = `/v1/checkout/sessions/${attempt?.sessionId ?? ''}?expand[]=line_items`;
    const { line_items: items } = await fromStripe(path);
    expect((items as { readonly data: unknown }).data).toMatchObject([
      { description: 'Coffee', quantity: 2, amount_total: 960, price: { unit_amount: 480 } },
      {
        description: `Toast ${'o'.repeat(193)}`,
        quantity: 1,
        amount_total: 350,
        price: { unit_amount: 350 },
      },
    ]);
    const page = await (await fetch(attempt?.url ?? '')).text();
    expect(page).toContain('Coffee × 2');
    expect(page).toContain('$4.80 each');
    expect(page).toContain('$9.60');
    expect(page).toContain('$3.50');
    expect(page).toContain('$13.10');
  });

  it('is asked for with the same parameters by whoever asks again, whatever rules come later', async () => {
    const order = await opened([{ key: 'cart', value: 'c-77' }]);
    const lease = {
      owner: 'o',
      request: { principal: 'u_1', operation: 'checkout', key: 'k' },
      recordTtlS: 4_000_000_000,
    };
    const claimed = claimAttempt(
      order,
      { ...URLS, paymentMethodTypes: ['card'] },
      lease,
      1_900_000_000_000,
      harness.ledger.metadataSeal.seal,
    );
    const [attempt] = claimed.attempts;
    if (attempt === undefined) throw new Error('it was just claimed');
    const metadata = await readMetadataOf(harness.ledger, claimed);
    const sent = sessionParameters(claimed, attempt, metadata);
    expect([sent.lines.length, sent.merchantMetadata]).toEqual([2, { m_cart: 'c-77' }]);
    const before = sessionParameters(claimed, { ...attempt, itemized: false }, metadata);
    expect(before.lines).toEqual([{ name: 'Coffee × 2 and 1 more', quantity: 1, unitAmountMinor: 1310 }]);
    expect(closeUnopened(claimed, attempt, 1_900_000_000_000, true).attempts[0]?.itemized).toBe(false);
  });
});

describe('metadata of an order', () => {
  it('is with the provider’s session and payment, apart from ours', async () => {
    const order = await opened([
      { key: 'cart', value: 'c-77' },
      { key: 'tenant', value: 'not ours' },
    ]);
    const { attempts } = await checkedOut(order);
    const sessionId = attempts[0]?.sessionId ?? '';
    const metadata = {
      m_cart: 'c-77',
      m_tenant: 'not ours',
      tenant: 't_1',
      order_id: `u_1/${order.orderId}`,
      attempt: '1',
    };
    expect(await fromStripe(`/v1/checkout/sessions/${sessionId}`)).toMatchObject({ metadata });
    await fetch(`${harness.simulator.url}/pay/${sessionId}/card`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'card=works',
      redirect: 'manual',
    });
    const { payment_intent: intent } = await fromStripe(`/v1/checkout/sessions/${sessionId}`);
    expect(await fromStripe(`/v1/payment_intents/${String(intent)}`)).toMatchObject({ metadata });
  });
});
