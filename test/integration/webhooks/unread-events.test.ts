import { describe, expect, it } from 'vitest';
import { listWebhookProblems } from '../../../src/ledger/usecases/queries/read-webhook-events.ts';
import { readProviderSession } from '../../../src/provider/stripe/mapping.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { admin } from '../../support/harness.ts';
import { stripeRefund, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { asProvider, paid } from './reported-refunds.ts';
import { type World, makeWorld, metadataOf, rawEvent, serveWebhook } from './support.ts';

/** Events that can't be judged as they come (docs/DESIGN.md §8): of another version, incomplete, of others' accounts. */

function paidSession(order: Order): Record<string, unknown> {
  const done = { id: 'cs_1', status: 'complete', payment_status: 'paid', payment_intent: 'pi_1', url: null };
  return stripeSession({ ...done, metadata: metadataOf(order) });
}

function keepSession(world: World, order: Order): void {
  const reading = readProviderSession(paidSession(order));
  if (reading.kind !== 'READ') throw new Error('unreadable session');
  world.account.objects.set('cs_1', { kind: 'session', session: reading.value });
}

async function problemsOf(world: World, tenant: string) {
  const { rows } = await listWebhookProblems(world.ledger, admin(tenant), {});
  return rows.map(({ row: { eventId, type, outcome } }) => ({ eventId, type, outcome }));
}

describe('an event whose object is fetched and judged from that', () => {
  it.each([
    ['of another version', { amount: 'elsewhere' }, { api_version: '2024-06-20' }],
    ['without an amount', { amount_total: null }, {}],
    ['without what we need', { expires_at: undefined }, {}],
  ])('a paid session %s credits its top-up once', async (_what, object, fields) => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    const endpoint = await serveWebhook(world);
    const event = rawEvent(world, 'checkout.session.completed', { ...paidSession(order), ...object }, fields);
    world.account.down = true;
    expect((await endpoint.deliver(event)).status).toBe(503);
    expect(await world.record(String(event['id']))).toBeUndefined();
    world.account.down = false;
    keepSession(world, order);
    for (const duplicate of [false, true])
      expect(await (await endpoint.deliver(event)).json()).toEqual({ outcome: 'APPLIED', duplicate });
    expect(await world.balance('demo', 'alice')).toBe('500');
    expect(await world.entries('demo', 'alice')).toHaveLength(1);
  });

  it('a refund without its payment is booked on the order of the payment that it has', async () => {
    const { world, order } = await paid();
    const endpoint = await serveWebhook(world);
    const refund = asProvider(stripeRefund({ metadata: {} }));
    world.account.objects.set('re_1', { kind: 'refund', refund });
    const event = rawEvent(world, 'refund.created', stripeRefund({ metadata: {}, payment_intent: null }));
    expect(await (await endpoint.deliver(event)).json()).toEqual({ outcome: 'APPLIED', duplicate: false });
    expect((await world.now(order)).refunded.toString()).toBe('200');
  });
});

describe('an event that nobody can read', () => {
  it.each([
    ['thin', { object: 'v2.core.event', type: 'v1.charge.failed', data: undefined }, 'v1.charge.failed'],
    ['of a listed type without its object', { data: { object: {} } }, 'refund.updated'],
    ['about something that is not there', {}, 'refund.updated'],
  ])('%s is 200, stored by id and type, listed for operators and counted', async (_what, fields, type) => {
    const world = await makeWorld();
    const endpoint = await serveWebhook(world);
    const event = rawEvent(world, 'refund.updated', { id: 're_9' }, fields);
    const eventId = String(event['id']);
    const answer = await endpoint.deliver(event);
    expect([answer.status, await answer.json()]).toEqual([200, { outcome: 'FAILED', duplicate: false }]);
    expect(await world.record(eventId)).toMatchObject({ type, outcome: 'FAILED', detail: 'can not be read' });
    const listed = [{ eventId, type, outcome: 'FAILED' }];
    // It may be anybody's, and says nothing of anybody.
    expect(await problemsOf(world, 'demo')).toEqual(listed);
    expect(await problemsOf(world, 't_1')).toEqual(listed);
    expect(world.counted.get('UnreadableEvent')).toBe(1);
    expect(endpoint.logged.join('')).toContain('a webhook can not be read');
  });

  it('with metadata of a tenant is listed for that tenant alone', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const endpoint = await serveWebhook(world);
    const object = { id: 're_9', metadata: metadataOf(order) };
    const event = rawEvent(world, 'refund.updated', object);
    expect((await endpoint.deliver(event)).status).toBe(200);
    expect(await problemsOf(world, 'demo')).toHaveLength(1);
    expect(await problemsOf(world, 't_1')).toEqual([]);
  });
});

it.each([
  [{ account: 'acct_2' }, 'of a connected account'],
  [{ livemode: undefined }, 'without a mode'],
])('an event with %j is 200 and changes nothing', async (fields, detail) => {
  const world = await makeWorld();
  const order = await world.waitingOrder({ kind: 'TOP_UP' });
  const endpoint = await serveWebhook(world);
  const event = rawEvent(world, 'checkout.session.completed', paidSession(order), fields);
  expect(await (await endpoint.deliver(event)).json()).toEqual({ outcome: 'IGNORED', duplicate: false });
  expect(await world.record(String(event['id']))).toMatchObject({ outcome: 'IGNORED', detail });
  expect((await world.now(order)).state).toBe('SESSION_CREATED');
  expect(await world.balance('demo', 'alice')).toBe('0');
});
