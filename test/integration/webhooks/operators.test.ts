import { describe, expect, it } from 'vitest';
import { stripeDispute, stripePayment, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { admin } from '../../support/harness.ts';
import { listWebhookProblems } from '../../../src/ledger/usecases/queries/read-webhook-events.ts';
import { replayWebhookEvent } from '../../../src/ledger/usecases/provider-updates/replay-webhook-event.ts';
import { readProviderPayment } from '../../../src/provider/stripe/mapping.ts';
import type { ProviderEvent } from '../../../src/provider/port.ts';
import { type World, eventOf, makeWorld, metadataOf } from './support.ts';

/** What operators can do about events (docs/DESIGN.md §8, `replayWebhookEvent` and `webhookProblems`). */

const ROOT = admin('demo');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function wrongAmount(world: World, metadata: Readonly<Record<string, string>>): ProviderEvent {
  const session = stripeSession({ id: 'cs_1', status: 'complete', payment_status: 'paid', metadata });
  return eventOf(world, 'checkout.session.completed', { ...session, amount_total: 1 });
}

describe('the list of problems', () => {
  it('holds mismatches of the own tenant, newest first, over months and pages', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const event = wrongAmount(world, metadataOf(order));
      await world.apply(event);
      ids.push(event.eventId);
      world.clock.advance(7 * DAY_MS);
    }
    // Their own records end after 30 days: the first is 35 days old by now.
    const newestFirst = ids.slice(1).reverse();
    const first = await listWebhookProblems(world.ledger, ROOT, { first: 3 });
    expect(first.rows.map(({ row }) => row.eventId)).toEqual(newestFirst.slice(0, 3));
    expect(first.rows[0]?.row).toMatchObject({
      outcome: 'MISMATCH',
      type: 'checkout.session.completed',
      detail: 'another amount than the order',
      order: { tenant: 'demo', accountId: 'alice', orderId: order.orderId },
    });
    const after = first.rows.at(-1)?.cursor;
    const second = await listWebhookProblems(world.ledger, ROOT, {
      first: 3,
      ...(after === undefined ? {} : { after }),
    });
    expect(second.rows.map(({ row }) => row.eventId)).toEqual(newestFirst.slice(3));
    expect((await listWebhookProblems(world.ledger, admin('t_1'), {})).rows).toEqual([]);
  });
});

describe('replaying an event by hand', () => {
  it('applies one that was a mismatch once its order is there', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    const paid = {
      id: 'cs_1',
      status: 'complete',
      payment_status: 'paid',
      payment_intent: 'pi_1',
      metadata,
    };
    const event = eventOf(world, 'checkout.session.completed', stripeSession(paid));
    await world.apply({ ...event, livemode: true });
    expect(await world.record(event.eventId)).toMatchObject({ outcome: 'MISMATCH' });
    expect(await world.apply(event)).toMatchObject({ outcome: 'MISMATCH', duplicate: true });
    world.account.events.set(event.eventId, event);
    expect(await replayWebhookEvent(world.ledger, ROOT, event.eventId)).toEqual({
      kind: 'ReplayWebhookEventSuccess',
      providerEventId: event.eventId,
    });
    expect(await world.record(event.eventId)).toMatchObject({ outcome: 'APPLIED' });
    expect((await world.now(order)).state).toBe('PAID');
    expect((await listWebhookProblems(world.ledger, ROOT, {})).rows).toEqual([]);

    const asked = world.account.asked;
    expect(await replayWebhookEvent(world.ledger, ROOT, event.eventId)).toMatchObject({
      kind: 'ReplayWebhookEventSuccess',
    });
    expect(world.account.asked).toBe(asked);
    expect(await world.entries('demo', 'alice')).toHaveLength(1);
  });

  it("never shows or applies another tenant's event, whoever's payment it is about", async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const metadata = metadataOf(order);
    const payment = readProviderPayment(stripePayment({ metadata }));
    if (payment.kind !== 'READ') throw new Error('unreadable payment');
    world.account.payments.set('pi_1', payment.value);
    const event = wrongAmount(world, metadata);
    const dispute = eventOf(world, 'charge.dispute.created', stripeDispute());
    for (const each of [event, dispute]) {
      world.account.events.set(each.eventId, each);
      expect(await replayWebhookEvent(world.ledger, admin('t_1'), each.eventId)).toEqual({
        kind: 'NotFound',
      });
      expect(await world.record(each.eventId)).toBeUndefined();
    }
    await world.apply(event);
    expect(await replayWebhookEvent(world.ledger, admin('t_1'), event.eventId)).toEqual({ kind: 'NotFound' });
  });

  it('says what stands in its way', async () => {
    const world = await makeWorld();
    for (const id of ['evt_nowhere', 'evt#1', '', 'x'.repeat(256)])
      expect(await replayWebhookEvent(world.ledger, ROOT, id)).toEqual({ kind: 'NotFound' });
    world.account.down = true;
    expect(await replayWebhookEvent(world.ledger, ROOT, 'evt_nowhere')).toMatchObject({
      kind: 'ProviderUnavailable',
    });
    world.account.down = false;
    const ghost = { tenant: 'demo', order_id: 'alice/01ARZ3NDEKTSV4RRFFQ69G5FAV', attempt: '1' };
    const early = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata: ghost }));
    world.account.events.set(early.eventId, early);
    expect(await replayWebhookEvent(world.ledger, ROOT, early.eventId)).toMatchObject({
      kind: 'TransactionConflict',
    });
    world.clock.advance(HOUR_MS);
    expect(await replayWebhookEvent(world.ledger, ROOT, early.eventId)).toMatchObject({
      kind: 'ReplayWebhookEventSuccess',
    });
    expect(await world.record(early.eventId)).toMatchObject({ outcome: 'MISMATCH' });
  });
});
