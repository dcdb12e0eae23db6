import { describe, expect, it } from 'vitest';
import { paidSession, refusalOf, sdk, sessionParams, simulator, START_S } from './support.ts';

describe('lists', () => {
  it('page newest first by a cursor, in both directions', async () => {
    const target = await simulator();
    const { sessions } = sdk(target).checkout;
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.push((await sessions.create(sessionParams())).id);
    const newestFirst = made.toReversed();

    const first = await sessions.list({ limit: 2 });
    expect([first.data.map(({ id }) => id), first.has_more]).toEqual([newestFirst.slice(0, 2), true]);
    const second = await sessions.list({ limit: 2, starting_after: newestFirst[1] ?? '' });
    expect([second.data.map(({ id }) => id), second.has_more]).toEqual([newestFirst.slice(2, 4), true]);
    const last = await sessions.list({ limit: 2, starting_after: newestFirst[3] ?? '' });
    expect([last.data.map(({ id }) => id), last.has_more]).toEqual([newestFirst.slice(4), false]);
    const back = await sessions.list({ limit: 2, ending_before: newestFirst[3] ?? '' });
    expect([back.data.map(({ id }) => id), back.has_more]).toEqual([newestFirst.slice(1, 3), true]);

    const all: string[] = [];
    for await (const session of sessions.list({ limit: 2 })) all.push(session.id);
    expect(all).toEqual(newestFirst);
    expect((await refusalOf(sessions.list({ limit: 101 }))).param).toBe('limit');
    expect((await refusalOf(sessions.list({ starting_after: 'cs_none' }))).param).toBe('starting_after');
  });

  it('filter payment intents by creation and expand them', async () => {
    const target = await simulator();
    const { paymentIntents } = sdk(target);
    const early = await paidSession(target);
    await target.advanceClock({ ms: 60_000 });
    const late = await paidSession(target);
    const since = await paymentIntents.list({
      created: { gte: START_S + 60 },
      expand: ['data.latest_charge'],
    });
    expect(since.data).toMatchObject([{ id: late.paymentIntent, latest_charge: { amount: 960 } }]);
    const until = await paymentIntents.list({ created: { lt: START_S + 60 } });
    expect(until.data.map(({ id }) => id)).toEqual([early.paymentIntent]);
  });

  it('find the session of a payment, its lines and its refunds', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { session, paymentIntent } = await paidSession(target);
    await paidSession(target);
    const refund = await stripe.refunds.create({ payment_intent: paymentIntent, amount: 100 });

    const found = await stripe.checkout.sessions.list({
      payment_intent: paymentIntent,
      expand: ['data.line_items'],
    });
    expect(found.data).toMatchObject([
      {
        id: session,
        line_items: { data: [{ description: 'Coffee', quantity: 2, amount_total: 960 }], has_more: false },
      },
    ]);
    const refunds = await stripe.refunds.list({ payment_intent: paymentIntent });
    expect(refunds.data.map(({ id }) => id)).toEqual([refund.id]);
    expect(
      await stripe.refunds.retrieve(refund.id, { expand: ['charge.refunds', 'payment_intent'] }),
    ).toMatchObject({
      charge: { amount_refunded: 100, refunds: { data: [{ id: refund.id }] } },
      payment_intent: { id: paymentIntent },
    });
  });
});

describe('events', () => {
  it('are listed newest first, by type and by time, and retrieved by id', async () => {
    const target = await simulator();
    const { events } = sdk(target);
    await paidSession(target);
    await target.advanceClock({ ms: 10_000 });
    const { paymentIntent } = await paidSession(target);
    await target.dashboardRefund({ paymentIntent });

    const succeeded = await events.list({ types: ['payment_intent.succeeded', 'refund.created'] });
    expect(succeeded.data.map(({ type, created }) => [type, created - START_S])).toEqual([
      ['refund.created', 10],
      ['payment_intent.succeeded', 10],
      ['payment_intent.succeeded', 0],
    ]);
    const ofCharges = await events.list({ type: 'charge.*', created: { gte: START_S + 10 } });
    expect(ofCharges.data.map(({ type }) => type)).toEqual(['charge.refunded', 'charge.succeeded']);
    const newest = await events.list({ limit: 1 });
    expect(await events.retrieve(newest.data[0]?.id ?? '')).toMatchObject({ type: 'charge.refunded' });
  });

  it('show the object as it was then', async () => {
    const target = await simulator();
    const { session, paymentIntent } = await paidSession(target);
    await sdk(target).refunds.create({ payment_intent: paymentIntent });
    const { data } = await sdk(target).events.list({ type: 'charge.succeeded' });
    expect(data[0]?.data.object).toMatchObject({ amount_refunded: 0, refunded: false });
    const completed = await sdk(target).events.list({ type: 'checkout.session.completed' });
    expect(completed.data[0]?.data.object).toMatchObject({ id: session, payment_intent: paymentIntent });
  });

  it('are kept for 30 days', async () => {
    const target = await simulator();
    await paidSession(target);
    const id = target.events()[0]?.id ?? '';
    await target.advanceClock({ ms: 30 * 86_400_000 - 1000 });
    expect((await sdk(target).events.retrieve(id)).id).toBe(id);
    await target.advanceClock({ ms: 1000 });
    expect((await refusalOf(sdk(target).events.retrieve(id))).statusCode).toBe(404);
    expect((await sdk(target).events.list()).data).toEqual([]);
  });
});
