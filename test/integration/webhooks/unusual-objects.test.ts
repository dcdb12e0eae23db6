import { describe, expect, it } from 'vitest';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { fetchedObjectReader } from '../../../src/provider/stripe/event-mapping.ts';
import { readProviderSession } from '../../../src/provider/stripe/mapping.ts';
import {
  stripeDispute,
  stripePayment,
  stripeRefund,
  stripeSession,
} from '../../unit/provider/stripe/stripe-objects.ts';
import { type World, makeWorld, metadataOf, rawEvent, serveWebhook } from './support.ts';

/**
 * Whatever Stripe signs is authentic, also where its object lacks what Stripe's own types call nullable: it is read and
 * answered 2xx, since 400 is for what Stripe didn't send (docs/DESIGN.md §8).
 */

async function deliver(
  world: World,
  type: string,
  object: Readonly<Record<string, unknown>>,
): Promise<{ readonly status: number; readonly body: unknown; readonly recorded: string | undefined }> {
  const endpoint = await serveWebhook(world);
  const event = rawEvent(world, type, object);
  // Stripe has it as it told it: to ask says nothing more.
  const kinds = { checkout: 'session', refund: 'refund', charge: 'dispute' } as const;
  const kind = Object.entries(kinds).find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'payment';
  const reading = fetchedObjectReader(kind)(object);
  if (reading.kind === 'READ') world.account.objects.set(String(object['id']), reading.value);
  const answer = await endpoint.deliver(event);
  const body: unknown = await answer.json();
  return { status: answer.status, body, recorded: (await world.record(String(event['id'])))?.outcome };
}

const IGNORED = {
  status: 200,
  body: { outcome: 'IGNORED', duplicate: false },
  recorded: 'IGNORED',
};
const MISMATCH = {
  status: 200,
  body: { outcome: 'MISMATCH', duplicate: false },
  recorded: 'MISMATCH',
};

describe("another integration's object", () => {
  const foreign = { id: 'cs_foreign', metadata: null };

  it.each([
    ['without an amount', { amount_total: null }],
    ['without an amount and a currency', { amount_total: null, currency: null }],
    ['without a status', { status: null }],
    ['in a status that Stripe adds', { status: 'paused' }],
    ['with a payment status that Stripe adds', { payment_status: 'partially_paid' }],
    ['without anything that may be absent', { amount_total: null, currency: null, status: null, url: null }],
  ])('a session %s is answered 200 and leaves its marker', async (_what, fields) => {
    const world = await makeWorld();
    const session = stripeSession({ ...foreign, ...fields });
    expect(await deliver(world, 'checkout.session.expired', session)).toEqual(IGNORED);
    expect(await deliver(world, 'checkout.session.completed', session)).toEqual(IGNORED);
  });

  it.each([
    ['payment_intent.payment_failed', stripePayment({ status: 'a_new_one', last_payment_error: {} })],
    ['refund.updated', stripeRefund({ payment_intent: null, status: null, metadata: null })],
    ['refund.failed', stripeRefund({ payment_intent: null, failure_reason: null })],
    ['charge.refunded', { object: 'charge', id: 'ch_1', payment_intent: null, metadata: {} }],
    ['charge.dispute.updated', stripeDispute({ payment_intent: null, status: 'a_new_one' })],
  ])('of %s with all that may be absent is answered 200', async (type, object) => {
    const world = await makeWorld();
    expect(await deliver(world, type, { ...object, metadata: null })).toEqual(IGNORED);
  });
});

describe('a session of ours', () => {
  const paid = { id: 'cs_1', status: 'complete', payment_status: 'paid', payment_intent: 'pi_1', url: null };

  it.each([
    ['without an amount', { amount_total: null }],
    ['without a currency', { currency: null }],
  ])('%s pays nothing and is a MISMATCH for operators', async (_what, fields) => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    const session = stripeSession({ ...paid, metadata: metadataOf(order), ...fields });
    expect(await deliver(world, 'checkout.session.completed', session)).toEqual(MISMATCH);
    expect((await world.now(order)).state).toBe('SESSION_CREATED');
    expect(await world.balance('demo', 'alice')).toBe('0');
  });

  it('with a payment status that Stripe adds moves no money, and its payment does', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    const metadata = metadataOf(order);
    const unheardOf = stripeSession({ ...paid, payment_status: 'partially_paid', metadata });
    expect((await deliver(world, 'checkout.session.completed', unheardOf)).status).toBe(200);
    expect((await world.now(order)).state).toBe('PENDING_PAYMENT');
    expect(await world.balance('demo', 'alice')).toBe('0');
    await deliver(world, 'payment_intent.succeeded', stripePayment({ metadata }));
    expect((await world.now(order)).state).toBe('PAID');
    expect(await world.balance('demo', 'alice')).toBe('500');
  });

  it('without a status is paid where its payment status says so', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    const metadata = metadataOf(order);
    const session = stripeSession({ ...paid, payment_status: 'paid', status: null, metadata });
    expect((await deliver(world, 'checkout.session.completed', session)).body).toEqual({
      outcome: 'APPLIED',
      duplicate: false,
    });
    expect(await world.balance('demo', 'alice')).toBe('500');
  });

  it('without a status is left as it is when its payment is canceled or the sweeper asks', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    const reading = readProviderSession(
      stripeSession({ id: 'cs_1', status: null, payment_intent: 'pi_1', metadata }),
    );
    if (reading.kind !== 'READ') throw new Error(reading.kind);
    world.account.sessions.set('cs_1', reading.value);
    world.clock.advance(3_600_000);
    await sweepOrder(world.ledger, order);
    expect((await world.now(order)).state).toBe('SESSION_CREATED');
    await deliver(world, 'payment_intent.canceled', stripePayment({ status: 'canceled', metadata }));
    const now = await world.now(order);
    expect([now.state, now.attempts.map(({ state }) => state)]).toEqual(['SESSION_CREATED', ['OPEN']]);
  });
});
