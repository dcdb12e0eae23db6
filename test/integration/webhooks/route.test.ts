import { describe, expect, it } from 'vitest';
import { stripePayment, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import {
  type Endpoint,
  type World,
  WEBHOOK_SECRET,
  makeWorld,
  metadataOf,
  rawEvent,
  serveWebhook,
  signatureOf,
} from './support.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';

/** The webhook over real HTTP, with real signatures (docs/DESIGN.md §8, FIELD-CASES C24, C35 and C36). */

async function served(): Promise<{ world: World; endpoint: Endpoint; order: Order }> {
  const world = await makeWorld();
  const order = await world.waitingOrder({ kind: 'TOP_UP' });
  return { world, order, endpoint: await serveWebhook(world) };
}

function paidSession(world: World, order: Order): Record<string, unknown> {
  const paid = { id: 'cs_1', status: 'complete', payment_status: 'paid', payment_intent: 'pi_1', url: null };
  return rawEvent(
    world,
    'checkout.session.completed',
    stripeSession({ ...paid, metadata: metadataOf(order) }),
  );
}

describe('an authentic event', () => {
  it('is applied and answered 200', async () => {
    const { world, order, endpoint } = await served();
    const answer = await endpoint.deliver(paidSession(world, order));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ outcome: 'APPLIED', duplicate: false });
    expect(await world.balance('demo', 'alice')).toBe('500');
    const line = endpoint.logged.find((one) => one.includes('took up a webhook')) ?? '{}';
    const orderId = encodeNodeId('Order', 'demo', 'alice', order.orderId);
    expect(JSON.parse(line)).toMatchObject({ outcome: 'APPLIED', tenant: 'demo', orderId });
  });

  it('delivered three times at once is applied once, and every answer is 200', async () => {
    const { world, order, endpoint } = await served();
    const event = paidSession(world, order);
    const answers = await Promise.all([1, 2, 3].map(() => endpoint.deliver(event)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await world.balance('demo', 'alice')).toBe('500');
    expect(await world.entries('demo', 'alice')).toHaveLength(1);
    expect((await world.now(order)).version).toBe(3);
    expect(await (await endpoint.deliver(event)).json()).toEqual({ outcome: 'APPLIED', duplicate: true });
  });

  it('of a type that nobody handles is 200, and leaves its marker', async () => {
    const { world, endpoint } = await served();
    const event = rawEvent(world, 'customer.created', { object: 'customer', email: 'alice@example.com' });
    expect((await endpoint.deliver(event)).status).toBe(200);
    expect(await world.record(String(event['id']))).toMatchObject({
      outcome: 'IGNORED',
      type: 'customer.created',
    });
  });

  it('verifies whatever the bytes look like: escapes, emoji, odd spacing', async () => {
    const { world, order, endpoint } = await served();
    const event = { ...paidSession(world, order), note: 'é 🍵' };
    const body = JSON.stringify(event, undefined, 3).replace('é', '\\u00e9');
    const answer = await endpoint.post(body, { 'stripe-signature': signatureOf(body, world) });
    expect(answer.status).toBe(200);
    expect(await world.balance('demo', 'alice')).toBe('500');
  });
});

describe('an event that cannot be applied now', () => {
  it('is 5xx and leaves no marker, and the redelivery credits once', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    let failures = 1;
    const failing: World = {
      ...world,
      ledger: {
        ...world.ledger,
        transactor: {
          commit: (plan) => {
            if (failures === 0) return world.ledger.transactor.commit(plan);
            failures -= 1;
            return Promise.resolve({ kind: 'THROTTLED' });
          },
        },
      },
    };
    const endpoint = await serveWebhook(failing);
    const event = paidSession(world, order);
    expect((await endpoint.deliver(event)).status).toBe(503);
    expect(await world.record(String(event['id']))).toBeUndefined();
    expect((await world.now(order)).state).toBe('SESSION_CREATED');
    expect((await endpoint.deliver(event)).status).toBe(200);
    expect(await world.balance('demo', 'alice')).toBe('500');
  });

  it('is 500 where our code fails, with a note for operators that the redelivery overwrites', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    let broken = true;
    const failing: World = {
      ...world,
      ledger: {
        ...world.ledger,
        followUps: () => {
          if (broken) throw new TypeError('a bug');
          return [];
        },
      },
    };
    const endpoint = await serveWebhook(failing);
    const event = paidSession(world, order);
    expect((await endpoint.deliver(event)).status).toBe(500);
    expect(await world.record(String(event['id']))).toMatchObject({
      outcome: 'FAILED',
      detail: 'TypeError',
      tenant: 'demo',
    });
    broken = false;
    expect((await endpoint.deliver(event)).status).toBe(200);
    expect(await world.record(String(event['id']))).toMatchObject({ outcome: 'APPLIED' });
    expect(await world.balance('demo', 'alice')).toBe('500');
  });

  it('is 503 while its order is not there yet, and 200 once it is known to be nobody', async () => {
    const { world, endpoint } = await served();
    const metadata = { tenant: 'demo', order_id: 'bob/01ARZ3NDEKTSV4RRFFQ69G5FAV', attempt: '1' };
    const event = rawEvent(world, 'payment_intent.succeeded', stripePayment({ metadata }));
    expect((await endpoint.deliver(event)).status).toBe(503);
    world.clock.advance(3_600_000);
    expect((await endpoint.deliver(event)).status).toBe(200);
  });
});

describe('what is not an authentic event', () => {
  const SENTINEL = 'pii-sentinel@x.test';

  async function refused(
    change: (body: string, signature: string) => { body: string | Uint8Array; signature?: string },
  ): Promise<{ status: number; logged: string }> {
    const { world, order, endpoint } = await served();
    const event = paidSession(world, order);
    const body = JSON.stringify({ ...event, note: SENTINEL });
    const sent = change(body, signatureOf(body, world));
    const { signature } = sent;
    const headers = signature === undefined ? {} : { 'stripe-signature': signature };
    const { status } = await endpoint.post(sent.body, headers);
    expect(await world.record(String(event['id']))).toBeUndefined();
    expect((await world.now(order)).state).toBe('SESSION_CREATED');
    return { status, logged: endpoint.logged.join('') };
  }

  it.each([
    ['without a signature', (body: string) => ({ body })],
    ['with an empty signature', (body: string) => ({ body, signature: '' })],
    ['re-serialised', (body: string, signature: string) => ({ body: body.replace(/,/g, ', '), signature })],
    ['with a byte order mark', (body: string, signature: string) => ({ body: `\ufeff${body}`, signature })],
    [
      'in base64',
      (body: string, signature: string) => ({ body: Buffer.from(body).toString('base64'), signature }),
    ],
  ])('%s is 400, changes nothing, and no byte of it is logged', async (_what, change) => {
    const { status, logged } = await refused(change);
    expect(status).toBe(400);
    expect(logged).toContain('refused a webhook');
    expect(logged).not.toContain(SENTINEL);
    expect(logged).not.toContain('cs_1');
  });

  it('signed with another secret, or long ago, is 400', async () => {
    const { world, order, endpoint } = await served();
    const body = JSON.stringify(paidSession(world, order));
    const foreign = await endpoint.post(body, {
      'stripe-signature': signatureOf(body, world, 'whsec_retired'),
    });
    const signature = signatureOf(body, world);
    world.clock.advance(301_000);
    const old = await endpoint.post(body, { 'stripe-signature': signature });
    expect([foreign.status, old.status]).toEqual([400, 400]);
    expect(WEBHOOK_SECRET).not.toBe('whsec_retired');
  });

  it.each(['[]', '{"type":"refund.created"}', 'no JSON'])('signed but no event (%s) is 200', async (body) => {
    const { world, endpoint } = await served();
    const answer = await endpoint.post(body, { 'stripe-signature': signatureOf(body, world) });
    expect([answer.status, await answer.json()]).toEqual([200, { outcome: 'FAILED', duplicate: false }]);
    expect(endpoint.logged.join('')).toContain('a signed webhook has no id');
  });

  it('too large is 413, chunked too', async () => {
    const { endpoint } = await served();
    const large = new Uint8Array(1_048_577);
    const headers = { 'stripe-signature': 't=1,v1=00' };
    expect((await endpoint.post(large, headers)).status).toBe(413);
    const chunked = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(large);
        controller.close();
      },
    });
    const request = { method: 'POST', headers, body: chunked, duplex: 'half' } as const;
    expect((await fetch(endpoint.url, request)).status).toBe(413);
  });

  it('by another method is 404', async () => {
    const { endpoint } = await served();
    expect((await fetch(endpoint.url)).status).toBe(404);
  });
});
