import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import type { AttributeValue } from '../../../src/ledger/kernel/attributes.ts';
import { type ItemKey, orderKey, refundKey } from '../../../src/ledger/kernel/keys.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import { type AuditReport, auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { updateOrder } from '../../../src/ledger/items/order-writes.ts';
import { putRefund } from '../../../src/ledger/items/refund-item.ts';
import type { Order, Refund } from '../../../src/ledger/model/orders/order.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import type { Store } from '../../../src/ledger/table/store.ts';
import { stripeRefund, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { type World, eventOf, makeWorld, metadataOf } from './support.ts';

/** The audit on refunds that the provider told of: what is right passes, and what is booked twice has a name. */

function audit(world: World, store: Store = world.ledger.store): Promise<AuditReport> {
  return auditTable(store, { segments: 3, wait: () => Promise.resolve() });
}

/** `what: expected …, found …` of each problem. */
async function problems(world: World): Promise<readonly string[]> {
  const report = await audit(world);
  expect(report.unsettled).toEqual([]);
  return report.problems.map(({ what, expected, found }) => `${what}: expected ${expected}, found ${found}`);
}

function pay(world: World, order: Order, attempt = 1): Promise<unknown> {
  const n = String(attempt);
  const session = { id: `cs_${n}`, payment_intent: `pi_${n}`, metadata: metadataOf(order, attempt) };
  const paid = { status: 'complete', payment_status: 'paid', url: null };
  return world.apply(eventOf(world, 'checkout.session.completed', stripeSession({ ...session, ...paid })));
}

/** A refund made in the dashboard. */
async function tell(world: World, id: string, status: string, fields: object = {}): Promise<void> {
  const refund = stripeRefund({ id, status, amount: 100, metadata: {}, failure_reason: null, ...fields });
  expect(await world.apply(eventOf(world, 'refund.updated', refund))).toMatchObject({ outcome: 'APPLIED' });
}

async function paidOrder(world: World, kind: Order['kind'] = 'PURCHASE'): Promise<Order> {
  const order = await world.waitingOrder({ kind });
  await pay(world, order);
  return world.now(order);
}

/** One that has an overpayment `pi_2` of 500 beside its own. */
async function paidTwice(world: World): Promise<Order> {
  const order = await world.waitingOrder({ sessionIds: ['cs_1', 'cs_2'] });
  await pay(world, order, 1);
  await pay(world, order, 2);
  return world.now(order);
}

async function write(
  world: World,
  before: Order,
  change: Partial<Order>,
  refunds: readonly Refund[] = [],
): Promise<Order> {
  const after: Order = { ...before, ...change, rev: before.rev + 1 };
  const parts = [
    updateOrder(before, after, world.ledger.settings),
    ...refunds.map((refund) => putRefund({ order: after, refund })),
  ];
  expect(await commit(world.ledger, plan(world.ledger.ids.token(), ...parts))).toMatchObject({
    kind: 'COMMITTED',
  });
  return world.now(after);
}

/** Full by a line that no client could make, but quick to write. */
async function paidFullOrder(world: World, sessionIds: readonly string[] = ['cs_1']): Promise<Order> {
  const amount = decimal('1');
  const line = { name: 'x'.repeat(180_000), quantity: 1, unitPrice: amount, amount };
  const order = await write(world, await world.waitingOrder({ sessionIds }), { lines: [line] });
  for (const index of sessionIds.keys()) await pay(world, order, index + 1);
  return world.now(order);
}

async function entryKeyOf(world: World, providerId: string): Promise<ItemKey> {
  const entries = await world.entries('demo', 'alice');
  const [entry, ...others] = entries.filter((one) => one.providerId === providerId);
  if (entry === undefined || others.length > 0) throw new Error(`not one entry of ${providerId}`);
  return { uuid: 'demo#alice', type: `ENTRY#${entry.entryId}` };
}

async function set(world: World, key: ItemKey, path: string, value: AttributeValue): Promise<void> {
  const names = path.split('.');
  await world.client.send(
    new UpdateItemCommand({
      TableName: world.tableName,
      Key: { uuid: { S: key.uuid }, type: { S: key.type } },
      UpdateExpression: `SET ${names.map((name) => `#${name}`).join('.')} = :value`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: { ':value': value },
    }),
  );
}

async function remove(world: World, key: ItemKey): Promise<void> {
  const Key = { uuid: { S: key.uuid }, type: { S: key.type } };
  await world.client.send(new DeleteItemCommand({ TableName: world.tableName, Key }));
}

describe('refunds as they come are no problem', () => {
  it('in parts, pending, failed after they had succeeded, and of a surplus payment', async () => {
    const world = await makeWorld();
    const order = await paidTwice(world);
    await tell(world, 're_1', 'pending');
    await tell(world, 're_1', 'succeeded');
    await tell(world, 're_2', 'succeeded');
    await tell(world, 're_2', 'failed', { failure_reason: 'expired_or_canceled_card' });
    await tell(world, 're_3', 'pending');
    const ofOverpayment = { payment_intent: 'pi_2', amount: 200 };
    await tell(world, 're_4', 'succeeded', ofOverpayment);
    await tell(world, 're_5', 'succeeded', ofOverpayment);
    await tell(world, 're_5', 'failed', ofOverpayment);
    expect((await world.now(order)).overpayments[0]?.refunded.toFixed()).toBe('200');
    expect(await problems(world)).toEqual([]);
  });

  it('of a top-up, whose value leaves as soon as one begins', async () => {
    const world = await makeWorld();
    await paidOrder(world, 'TOP_UP');
    await tell(world, 're_1', 'pending');
    await tell(world, 're_2', 'succeeded');
    await tell(world, 're_3', 'succeeded');
    await tell(world, 're_3', 'failed');
    expect(await world.balance('demo', 'alice', 'ECOPAY')).toBe('300');
    expect(await problems(world)).toEqual([]);
  });

  it('of a full order; and each account is counted once', async () => {
    const world = await makeWorld();
    const order = await paidFullOrder(world, ['cs_1', 'cs_2']);
    await tell(world, 're_1', 'succeeded');
    await tell(world, 're_2', 'pending');
    await tell(world, 're_3', 'succeeded');
    await tell(world, 're_3', 'failed');
    await tell(world, 're_4', 'succeeded', { payment_intent: 'pi_2' });
    const now = await world.now(order);
    expect([now.refundCount, now.overpayments[0]?.refundCount, now.refunded.toFixed()]).toEqual([
      3,
      1,
      '100',
    ]);
    expect(await problems(world)).toEqual([]);
    expect(await audit(world)).toMatchObject({ accounts: 1, orders: 1, entries: 6 });
  });

  it('made while the audit reads', async () => {
    const world = await makeWorld();
    await paidFullOrder(world);
    await tell(world, 're_1', 'succeeded');
    const { store } = world.ledger;
    let reported = 1;
    const busy: Store = {
      ...store,
      // It has passed their place before the refund was made, so that the account is read again.
      scan: async (...range) => {
        const page = await store.scan(...range);
        return { ...page, items: page.items.filter(({ type }) => type?.S?.startsWith('REFUND#') !== true) };
      },
      query: async (request) => {
        if (request.prefix === 'REFUND#' && reported < 4) {
          await tell(world, `re_${String((reported += 1))}`, reported === 3 ? 'pending' : 'succeeded');
        }
        return store.query(request);
      },
    };
    expect(await audit(world, busy)).toMatchObject({ problems: [], unsettled: [] });
    expect(reported).toBe(4);
  });
});

describe('planted damage is named, though the sums agree', () => {
  it('a refund that is booked twice, and another not at all', async () => {
    const world = await makeWorld();
    await paidOrder(world);
    await tell(world, 're_1', 'succeeded');
    await tell(world, 're_2', 'succeeded');
    const key = await entryKeyOf(world, 're_2');
    await set(world, key, 'refund', { S: 're_1' });
    expect(await problems(world)).toEqual([
      'refund re_1 by entries: expected 100, found 200',
      'refund re_2 by entries: expected 100, found 0',
    ]);
  });

  it('a refund of ours that is there a second time as the provider’s, booked for each', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world);
    await tell(world, 're_1', 'succeeded');
    const [first] = await world.refundsOf(order);
    if (first === undefined) throw new Error('a refund');
    const now = await world.now(order);
    const again = { ...first, refundId: world.ledger.ids.ulid(1), rev: 0 };
    const sums = { refunded: decimal('200'), refundable: decimal('300'), refundCount: 2 };
    await write(world, now, sums, [again]);
    const [entry] = (await world.entries('demo', 'alice')).filter(({ providerId }) => providerId === 're_1');
    const type = `ENTRY#${entry?.entryId ?? ''}`;
    const [item] = await world.ledger.store.get([{ uuid: 'demo#alice', type }]);
    const twin = {
      type: { S: `ENTRY#${world.ledger.ids.ulid(world.clock.nowMs())}` },
      refund: { S: again.refundId },
    };
    // What was read goes back as it was: the two types differ in readonly alone.
    const Item = { ...(item as Record<string, never>), ...twin };
    await world.client.send(new PutItemCommand({ TableName: world.tableName, Item }));
    expect(await problems(world)).toEqual(['refund re_1: expected kept once, found 2 times']);
  });

  it('a refund that failed, and whose money was not taken back', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world);
    await tell(world, 're_1', 'succeeded');
    await tell(world, 're_2', 'succeeded');
    const now = await world.now(order);
    const [first, second] = await world.refundsOf(order);
    if (first === undefined || second === undefined) throw new Error('two refunds');
    await write(world, now, {}, [
      { ...first, amount: decimal('200') },
      { ...second, state: 'FAILED' },
    ]);
    expect(await problems(world)).toEqual([
      'refund re_1 by entries: expected 200, found 100',
      'refund re_2 by entries: expected 0, found 100',
    ]);
  });

  it('a surplus payment that gave back something else than its refunds and entries say', async () => {
    const world = await makeWorld();
    const order = await paidTwice(world);
    await tell(world, 're_1', 'succeeded', { payment_intent: 'pi_2' });
    const now = await world.now(order);
    await write(world, now, {
      overpayments: now.overpayments.map((payment) => ({ ...payment, refunded: decimal('300') })),
    });
    expect(await problems(world)).toEqual(['surplus pi_2 refunded: expected 100, found 300']);
  });

  it('an entry that gives a surplus payment back without a refund', async () => {
    const world = await makeWorld();
    await paidTwice(world);
    await tell(world, 're_1', 'succeeded', { payment_intent: 'pi_2' });
    await set(world, await entryKeyOf(world, 're_1'), 'provider', { S: 're_other' });
    expect(await problems(world)).toEqual([
      'refund re_1 by entries: expected 100, found 0',
      'refund re_other by entries: expected 0, found 100',
    ]);
  });

  it('a refund whose item is gone', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world);
    await tell(world, 're_1', 'succeeded');
    await remove(world, refundKey({ ...order, refundId: 're_1' }));
    expect(await problems(world)).toEqual([
      'refunded: expected 0, found 100',
      'refunded by entries: expected 0, found 100',
      'refund re_1 by entries: expected 0, found 100',
      'refunds: expected 0, found 1',
    ]);
  });

  it('refunds that their order does not count', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world);
    await tell(world, 're_1', 'pending');
    await tell(world, 're_2', 'pending');
    await set(world, orderKey(order), 'refunds', { N: '1' });
    await set(world, orderKey(order), 'refunds_pending', { N: '1' });
    expect(await problems(world)).toEqual([
      'refunds: expected 2, found 1',
      'refunds pending: expected 2, found 1',
    ]);
  });

  it('a refund of an order that is not there, and one that cannot be read', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world);
    await tell(world, 're_1', 'pending');
    const gone = { ...order, orderId: world.ledger.ids.ulid(1) };
    const [item] = await world.ledger.store.get([refundKey({ ...order, refundId: 're_1' })]);
    const { type } = refundKey({ ...gone, refundId: 're_1' });
    const Item = { ...(item as Record<string, never>), type: { S: type } };
    await world.client.send(new PutItemCommand({ TableName: world.tableName, Item }));
    await set(world, refundKey({ ...order, refundId: 're_1' }), 'state', { S: 'LOST' });
    const { problems: found } = await audit(world);
    expect(found.map(({ tenant, accountId, item: name, what }) => [tenant, accountId, name, what])).toEqual([
      ['demo', 'alice', `REFUND#${order.orderId}#re_1`, 'item'],
      ['demo', 'alice', `ORDER#${order.orderId}`, 'refundPending'],
      ['demo', 'alice', `ORDER#${order.orderId}`, 'refunds'],
      ['demo', 'alice', `ORDER#${order.orderId}`, 'refunds pending'],
      ['demo', 'alice', type, 'order'],
    ]);
  });
});
