import { describe, expect, it } from 'vitest';
import { type AttributeValue, toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { refundKey } from '../../../src/ledger/kernel/keys.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { compareRefund } from '../../../src/ledger/usecases/reconcile/compare-with-provider.ts';
import { findUnbacked } from '../../../src/ledger/usecases/reconcile/find-unbacked.ts';
import { type Ledger, commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { orderAttributes } from '../../../src/ledger/items/order-item.ts';
import { isFull } from '../../../src/ledger/model/orders/order-size.ts';
import { updateOrder } from '../../../src/ledger/items/order-writes.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { readProviderRefund } from '../../../src/provider/stripe/mapping.ts';
import { customer, merchant } from '../../support/harness.ts';
import { itemBytes } from '../../support/item-bytes.ts';
import { stripeRefund, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { type World, eventOf, makeWorld, metadataOf, rawItem } from './support.ts';

/** What one item may take in the table. */
const MOST_BYTES = 400 * 1024;

function completedSession(order: Order, attempt = 1): Record<string, unknown> {
  return stripeSession({
    id: `cs_${String(attempt)}`,
    status: 'complete',
    payment_status: 'paid',
    payment_intent: `pi_${String(attempt)}`,
    url: null,
    metadata: metadataOf(order, attempt),
  });
}

async function write(world: World, before: Order, change: Partial<Order>): Promise<Order> {
  const after: Order = { ...before, ...change, rev: before.rev + 1 };
  const { ledger } = world;
  const part = updateOrder(before, after, ledger.settings);
  expect(await commit(ledger, plan(ledger.ids.token(), part))).toMatchObject({ kind: 'COMMITTED' });
  return world.now(after);
}

/** As no line makes an order, but quick to write. */
async function fullOrder(world: World): Promise<Order> {
  const amount = decimal('1');
  const line = { name: 'x'.repeat(180_000), quantity: 1, unitPrice: amount, amount };
  const order = await world.waitingOrder();
  const full = await write(world, order, { lines: [line] });
  expect(isFull(full)).toBe(true);
  return full;
}

async function paidFullOrder(world: World): Promise<Order> {
  const order = await fullOrder(world);
  await world.apply(eventOf(world, 'checkout.session.completed', completedSession(order)));
  const paid = await world.now(order);
  expect(paid.state).toBe('PAID');
  return paid;
}

/** The order's item as an earlier release kept it: closed attempts with all that was asked for, to the last byte. */
function withAllThatWasAsked(world: World, order: Order, attempts: number): Record<string, AttributeValue> {
  const asked = 'https://shop.example/'.padEnd(2_048, 'u');
  const item = toAttributes(orderAttributes(order, world.ledger.settings));
  const last =
    item['attempts'] !== undefined && 'L' in item['attempts'] ? item['attempts'].L.at(-1) : undefined;
  if (last === undefined || !('M' in last)) throw new Error('no attempt');
  const { M } = last;
  const listed = (page: string): Record<string, AttributeValue> => {
    const L = Array.from({ length: attempts }, (_, index): AttributeValue => {
      const n = String(index + 1);
      const frozen = { n: { N: n }, su: { S: asked }, cu: { S: asked }, i: { S: `cs_${n}` } };
      const isLast = index + 1 === attempts;
      return {
        M: { ...M, ...frozen, s: { S: isLast ? 'OPEN' : 'CLOSED' }, u: { S: index === 0 ? page : asked } },
      };
    });
    return { ...item, attempts: { L } };
  };
  return listed('u'.repeat(MOST_BYTES - 100 - itemBytes(listed(''))));
}

describe('an order that an earlier release left without room for another byte', () => {
  it('is paid when the money arrives, and has room again', async () => {
    const world = await makeWorld();
    const { ledger } = world;
    const order = await world.waitingOrder();
    const attempts = 66;
    const Item = withAllThatWasAsked(world, order, attempts);
    expect(itemBytes(Item)).toBe(MOST_BYTES - 100);
    const part = { items: [{ role: 'order', item: { Put: { Item } } }] } as const;
    expect(await commit(ledger, plan(ledger.ids.token(), part))).toMatchObject({ kind: 'COMMITTED' });

    const event = eventOf(world, 'checkout.session.completed', completedSession(order, attempts));
    expect(await world.apply(event)).toMatchObject({ kind: 'DONE', outcome: 'APPLIED' });
    const paid = await world.now(order);
    expect([paid.state, paid.attempts.length, paid.payment?.paymentId]).toEqual(['PAID', 66, 'pi_66']);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('500');
    expect(itemBytes(toAttributes(orderAttributes(paid, ledger.settings)))).toBeLessThan(20_000);
  });
});

describe('a full order', () => {
  it('refuses another attempt and another refund by name, and stays as it is', async () => {
    const world = await makeWorld();
    const paid = await paidFullOrder(world);
    const orderId = encodeNodeId('Order', paid.tenant, paid.accountId, paid.orderId);
    expect(
      await refund(world.ledger, merchant('cafe', 'demo'), world.key(), { orderId, amount: '1' }),
    ).toMatchObject({ kind: 'InvalidInput', issues: [{ path: ['orderId'], code: 'too_many_refunds' }] });
    expect(await world.now(paid)).toEqual(paid);

    const failed = await write(world, await fullOrder(world), { state: 'FAILED', attempts: [] });
    const urls = { successUrl: 'https://shop.example/a', cancelUrl: 'https://shop.example/b' };
    const another = encodeNodeId('Order', failed.tenant, failed.accountId, failed.orderId);
    expect(
      await checkout(world.ledger, customer('alice', 'demo'), world.key(), { orderId: another, ...urls }),
    ).toMatchObject({ kind: 'InvalidInput', issues: [{ path: ['orderId'], code: 'too_many_attempts' }] });
    expect(await world.now(failed)).toEqual(failed);
  });

  it('books each refund made at the provider once, in an item of its own, and the audit agrees', async () => {
    const world = await makeWorld();
    const order = await paidFullOrder(world);
    const reported = (id: string, status: string) =>
      stripeRefund({ id, status, amount: 100, metadata: {}, failure_reason: null });
    for (const [id, status] of [
      ['re_1', 'pending'],
      ['re_1', 'succeeded'],
      ['re_2', 'succeeded'],
      ['re_2', 'failed'],
      ['re_2', 'succeeded'],
      ['re_1', 'succeeded'],
    ] as const)
      expect(await world.apply(eventOf(world, 'refund.updated', reported(id, status)))).toMatchObject({
        kind: 'DONE',
      });
    const now = await world.now(order);
    expect([now.refundCount, now.pendingRefundCount]).toEqual([2, 0]);
    expect([now.refunded.toFixed(), now.refundable.toFixed(), now.refundPending.toFixed()]).toEqual([
      '100',
      '400',
      '0',
    ]);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('400');
    expect(await rawItem(world, refundKey({ ...order, refundId: 're_2' }))).toMatchObject({
      state: { S: 'FAILED' },
      amount: { N: '100' },
    });
    const read = readProviderRefund(reported('re_1', 'succeeded'));
    if (read.kind !== 'READ') throw new Error('unreadable');
    expect(await compareRefund(world.ledger, read.value)).toEqual({ kind: 'SAME' });
    const report = await auditTable(world.ledger.store, { segments: 1, wait: () => Promise.resolve() });
    expect(report).toMatchObject({ problems: [], unsettled: [] });
  });

  it('has such refunds looked up at the provider too: what it knows nothing of is named', async () => {
    const world = await makeWorld();
    const order = await paidFullOrder(world);
    for (const id of ['re_1', 're_2', 're_3']) {
      const reported = stripeRefund({
        id,
        status: 'succeeded',
        amount: 100,
        metadata: {},
        failure_reason: null,
      });
      await world.apply(eventOf(world, 'refund.created', reported));
    }
    expect((await world.now(order)).refundCount).toBe(3);
    const missing = { kind: 'REFUSED', code: 'resource_missing' } as const;
    const asked: string[] = [];
    const provider: Ledger['provider'] = {
      ...world.ledger.provider,
      retrieveRefund: (id) => {
        asked.push(id);
        return Promise.resolve(missing);
      },
    };
    const known = new Map([
      ['pi_1', { status: 'succeeded', amountMinor: 500, currency: 'JPY' }],
      ['re_1', { status: 'succeeded', amountMinor: 100, currency: 'JPY' }],
      ['re_2', { status: 'succeeded', amountMinor: 99, currency: 'JPY' }],
    ]);
    const ledger = { ...world.ledger, provider };
    const found = await findUnbacked(ledger, { sinceMs: 0, known, young: new Set() });
    expect(found.recordings).toBe(4);
    const named = found.unbacked.map(({ difference }) => [difference.providerId, difference.provider]);
    expect([...named].sort()).toEqual([
      ['re_2', 'has none'],
      ['re_3', 'has none'],
    ]);
    expect([...asked].sort()).toEqual(['re_2', 're_3']);
    const sinceMs = world.clock.nowMs() + 1;
    expect((await findUnbacked(ledger, { sinceMs, known, young: new Set() })).recordings).toBe(0);
  });

  it.each([
    ['full', true],
    ['an ordinary one', false],
  ])('that is %s has its refunds read once for all of a payment that are listed', async (_name, isLarge) => {
    const world = await makeWorld();
    const order = isLarge ? await fullOrder(world) : await world.waitingOrder();
    await world.apply(eventOf(world, 'checkout.session.completed', completedSession(order)));
    const reported = (id: number) =>
      stripeRefund({
        id: `re_${String(id)}`,
        status: 'succeeded',
        amount: 10,
        metadata: {},
        failure_reason: null,
      });
    for (let id = 1; id <= 20; id += 1) {
      const made = reported(id);
      await world.apply(eventOf(world, 'refund.created', made));
      const read = readProviderRefund(made);
      if (read.kind === 'READ') world.account.refunds.set(`re_${String(id)}`, read.value);
    }
    let count = 0;
    const { store } = world.ledger;
    const get: Ledger['store']['get'] = (keys) => {
      count += 1;
      return store.get(keys);
    };
    const query: Ledger['store']['query'] = (request) => {
      count += 1;
      return store.query(request);
    };
    const counting = { ...world.ledger, store: { ...store, get, query } };
    const charge = { id: 'ch_1', object: 'charge', payment_intent: 'pi_1', metadata: {} };
    const nothing = await applyEvent(counting, eventOf(world, 'charge.refunded', charge));
    expect(nothing).toMatchObject({ kind: 'DONE', outcome: 'STALE' });
    // The event with its payment, the order, the refunds.
    expect(count).toBe(3);

    // One is new: it alone is settled by itself.
    const another = readProviderRefund(reported(21));
    if (another.kind !== 'READ') throw new Error('unreadable');
    world.account.refunds.set('re_21', another.value);
    count = 0;
    const one = await applyEvent(counting, eventOf(world, 'charge.refunded', charge));
    expect(one).toMatchObject({ kind: 'DONE', outcome: 'APPLIED' });
    // And of the one that is new: its payment, its order, and the refunds that it might be.
    expect(count).toBe(6);
    expect((await world.now(order)).refunded.toFixed()).toBe('210');
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('290');
  });

  it('is swept while such a refund is pending, and told its end', async () => {
    const world = await makeWorld();
    const order = await paidFullOrder(world);
    const pending = stripeRefund({ id: 're_1', status: 'pending', amount: 500, metadata: {} });
    await world.apply(eventOf(world, 'refund.created', pending));
    const read = readProviderRefund({ ...pending, status: 'succeeded' });
    if (read.kind !== 'READ') throw new Error('unreadable');
    world.account.refunds.set('re_1', read.value);
    world.clock.advance(world.ledger.settings.sweepAfterMs);
    expect(await sweepOrder(world.ledger, order)).toBe('SETTLED');
    const now = await world.now(order);
    expect([now.state, now.refundPending.toFixed(), now.refunded.toFixed()]).toEqual([
      'REFUNDED',
      '0',
      '500',
    ]);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('0');
  });
});
