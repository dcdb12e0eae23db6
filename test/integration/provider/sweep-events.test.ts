import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { eventKey } from '../../../src/ledger/kernel/keys.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { replayWebhookEvent } from '../../../src/ledger/usecases/provider-updates/replay-webhook-event.ts';
import { orderAttributes } from '../../../src/ledger/items/order-item.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { readEventRecord } from '../../../src/ledger/items/event-item.ts';
import type { ProviderEvent } from '../../../src/provider/port.ts';
import { admin } from '../../support/harness.ts';
import { EVENT_CURSOR_KEY, readEventCursor } from '../../../src/ledger/items/event-cursor.ts';
import { plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { sweepEvents } from '../../../src/ledger/usecases/provider-updates/sweep-events.ts';
import { type ProviderHarness, checkedOut, makeProviderHarness, paidByCard } from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const PAUSE_MS = 300_000;
const HOUR_S = 3_600;

async function cursorFromS(): Promise<number> {
  const [item] = await harness.ledger.store.get([EVENT_CURSOR_KEY]);
  if (item === undefined) throw new Error('there is no cursor');
  return readEventCursor(item).fromS;
}

/** Makes an order unreadable, so that whatever is told of it fails; gives back how to repair it. */
async function breakOrder(orderId: string): Promise<{ readonly repair: () => Promise<void> }> {
  const order = await harness.order('t_1', 'u_1', orderId);
  const Item = toAttributes(orderAttributes(order, harness.ledger.settings));
  const put = async (item: typeof Item): Promise<void> => {
    const part = { items: [{ role: 'order', item: { Put: { Item: item } } }] } as const;
    const { ledger } = harness;
    expect(await commit(ledger, plan(ledger.ids.token(), part))).toMatchObject({ kind: 'COMMITTED' });
  };
  await put({ ...Item, state: { S: 'BROKEN' } });
  return { repair: () => put(Item) };
}

/** All that Stripe has told since then, of whatever type. */
async function stripeEventsSince(
  createdFromS: number,
): Promise<readonly { readonly id: string; readonly type: string }[]> {
  const response = await fetch(
    `${harness.simulator.url}/v1/events?limit=100&created[gte]=${String(createdFromS)}`,
    { headers: { authorization: 'Bearer sk_test_1' } },
  );
  const { data } = (await response.json()) as { data: { id: string; type: string }[] };
  return data;
}

/** The events of an order that are noted as FAILED. */
async function failedOf(orderId: string, events: readonly ProviderEvent[]): Promise<readonly string[]> {
  const items = await harness.ledger.store.get(events.map(({ eventId }) => eventKey(eventId)));
  return items
    .flatMap((item) => (item === undefined ? [] : [readEventRecord(item)]))
    .filter(({ outcome, order }) => outcome === 'FAILED' && order?.orderId === orderId)
    .map(({ eventId }) => eventId);
}

describe("a look through Stripe's events", () => {
  it('applies those whose webhook was lost, each once, and leaves young ones to theirs', async () => {
    const { orderId, paymentId } = await paidByCard(harness, '100.00');
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 2500 });
    await harness.advance(119_000);
    expect(await sweepEvents(harness.ledger, { pauseMs: 0 })).toMatchObject({ applied: 0, complete: true });

    await harness.advance(1_000);
    const found = await sweepEvents(harness.ledger, { pauseMs: 0 });
    expect(found).toMatchObject({ left: 0, complete: true });
    expect(found?.applied).toBeGreaterThan(0);
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(plainDecimal(order.refunded)).toBe('25');
    const refunds = await harness.refunds('t_1', 'u_1', orderId);
    expect(refunds.map(({ source, state }) => [source, state])).toEqual([['DASHBOARD', 'SUCCEEDED']]);

    const again = await sweepEvents(harness.ledger, { pauseMs: 0 });
    expect(again).toMatchObject({ applied: 0, left: 0, complete: true });
    const entries = await harness.entries('t_1', 'u_1');
    expect(entries.filter((entry) => entry.operation === 'REFUND')).toHaveLength(1);
  });

  it('finds nothing to apply where every type that has an effect had its webhook, and leaves no marker of others', async () => {
    await sweepEvents(harness.ledger, { pauseMs: 0 });
    const { sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    const madeS = Math.floor(harness.clock.nowMs() / 1000);
    const sent = await stripeEventsSince(madeS);
    const subscribed = ['checkout.session.completed', 'payment_intent.succeeded'];
    for (const { id, type } of sent) {
      if (!subscribed.includes(type)) continue;
      const event = await harness.ledger.provider.retrieveEvent(id);
      if (event.kind === 'DONE') await applyEvent(harness.ledger, event.value);
    }
    await harness.advance(600_000);
    expect(await sweepEvents(harness.ledger, { pauseMs: 0 })).toMatchObject({ applied: 0, left: 0 });
    const others = sent.filter(({ type }) => !subscribed.includes(type));
    expect(others.map(({ type }) => type).sort()).toEqual(['charge.succeeded', 'payment_intent.created']);
    const records = await harness.ledger.store.get(others.map(({ id }) => eventKey(id)));
    expect(records.filter((record) => record !== undefined)).toEqual([]);
  });

  it('moves its cursor to an hour before now, and no further', async () => {
    await sweepEvents(harness.ledger, { pauseMs: 0 });
    const nowS = Math.floor(harness.clock.nowMs() / 1000);
    expect(await cursorFromS()).toBe(nowS - HOUR_S);
  });

  it('that breaks off leaves the cursor where it was, and what was lost is found the next time', async () => {
    const { orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    const before = await cursorFromS();
    await harness.advance(HOUR_S * 1000);
    await harness.simulator.failNextRequests({
      method: 'GET',
      path: '/v1/events',
      count: 1,
      status: 500,
      type: 'api_error',
    });
    expect(await sweepEvents(harness.ledger, { pauseMs: 0 })).toMatchObject({ complete: false });
    expect(await cursorFromS()).toBe(before);
    expect(await sweepEvents(harness.ledger, { pauseMs: 0 })).toMatchObject({ complete: true });
    expect((await harness.order('t_1', 'u_1', orderId)).state).toBe('PAID');
  });

  it('tries an event that fails again and again for hours, then goes on without it: operators have its note', async () => {
    const { orderId, sessionId } = await checkedOut(harness);
    const broken = await breakOrder(orderId);
    await harness.simulator.payByCard({ session: sessionId });
    const madeS = Math.floor(harness.clock.nowMs() / 1000);
    await harness.advance(2 * HOUR_S * 1000);
    expect(await sweepEvents(harness.ledger, { pauseMs: 0 })).toMatchObject({ complete: true });
    expect(await cursorFromS()).toBe(madeS);
    await harness.advance((6 * HOUR_S - 1) * 1000);
    const tried = await sweepEvents(harness.ledger, { pauseMs: 0 });
    expect(tried?.left).toBeGreaterThan(0);
    expect(await cursorFromS()).toBe(madeS);

    // Another one fails since: it gets its own hours.
    const later = await checkedOut(harness);
    const laterBroken = await breakOrder(later.orderId);
    await harness.simulator.payByCard({ session: later.sessionId });
    const laterS = Math.floor(harness.clock.nowMs() / 1000);
    await harness.advance(2 * HOUR_S * 1000);
    await sweepEvents(harness.ledger, { pauseMs: 0 });
    expect(await cursorFromS()).toBe(laterS);

    await laterBroken.repair();
    expect(await sweepEvents(harness.ledger, { pauseMs: 0 })).toMatchObject({ left: 0, complete: true });
    expect((await harness.order('t_1', 'u_1', later.orderId)).state).toBe('PAID');
    expect(await cursorFromS()).toBe(Math.floor(harness.clock.nowMs() / 1000) - HOUR_S);

    await broken.repair();
    const listed = await harness.ledger.provider.listEvents({ createdFromS: madeS, limit: 100 });
    const failed = listed.kind === 'DONE' ? await failedOf(orderId, listed.value.items) : [];
    expect(failed.length).toBeGreaterThan(0);
    for (const eventId of failed)
      expect(await replayWebhookEvent(harness.ledger, admin(), eventId)).toMatchObject({
        kind: 'ReplayWebhookEventSuccess',
      });
    expect((await harness.order('t_1', 'u_1', orderId)).state).toBe('PAID');
  });

  it('is one process at a time, and not again before its pause is over', async () => {
    await harness.advance(1_000);
    const both = await Promise.all([
      sweepEvents(harness.ledger, { pauseMs: PAUSE_MS }),
      sweepEvents(harness.ledger, { pauseMs: PAUSE_MS }),
    ]);
    expect(both.filter((found) => found !== undefined)).toHaveLength(1);
    await harness.advance(PAUSE_MS - 1);
    expect(await sweepEvents(harness.ledger, { pauseMs: PAUSE_MS })).toBeUndefined();
    await harness.advance(1);
    expect(await sweepEvents(harness.ledger, { pauseMs: PAUSE_MS })).toBeDefined();
  });
});
