import { describe, expect, it } from 'vitest';
import { paidSession, sdk, sessionParams, simulator, webhookReceiver } from './support.ts';

const PAID = [
  'payment_intent.created',
  'charge.succeeded',
  'payment_intent.succeeded',
  'checkout.session.completed',
];

describe('a webhook', () => {
  it('comes again until it is taken', async () => {
    const receiver = await webhookReceiver();
    receiver.answerNext(500, 302);
    const target = await simulator({ webhookUrl: receiver.url });
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    await sdk(target).checkout.sessions.expire(id);
    await target.idle();
    expect(receiver.types()).toEqual([
      'checkout.session.expired',
      'checkout.session.expired',
      'checkout.session.expired',
    ]);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(1);
    expect(target.events()[0]?.pending_webhooks).toBe(0);
  });

  it('is given up after its attempts, and is still in the events API', async () => {
    const receiver = await webhookReceiver();
    receiver.answerNext(500, 500, 500);
    const log: string[] = [];
    const target = await simulator({
      webhookUrl: receiver.url,
      webhookMaxAttempts: 3,
      log: (line) => log.push(line),
    });
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    await target.expireSession({ session: id });
    await target.idle();
    expect(receiver.received).toHaveLength(3);
    const [event] = (await sdk(target).events.list()).data;
    expect(event).toMatchObject({ type: 'checkout.session.expired', pending_webhooks: 1 });
    expect(log.at(-1)).toBe(`webhook ${event?.id ?? ''} given up: out of attempts`);
  });

  it('is never sent while switched off, and its event is there all the same', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    await target.setWebhooks({ on: false });
    await paidSession(target);
    await target.setWebhooks({ on: true });
    await target.idle();
    expect(receiver.received).toEqual([]);
    expect((await sdk(target).events.list()).data).toHaveLength(4);
  });

  it('can be held and released in any order, and delivered again', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    await target.hold();
    await paidSession(target);
    const { events } = await target.held();
    expect(events).toEqual(target.events().map(({ id }) => id));
    await target.idle();
    expect(receiver.received).toEqual([]);

    const [first = '', second = '', third = '', fourth = ''] = events;
    expect(await target.release({ events: [fourth, second] })).toEqual({
      sent: [
        { event: fourth, status: 200 },
        { event: second, status: 200 },
      ],
    });
    expect(await target.held()).toEqual({ events: [first, third] });
    await target.deliver({ event: fourth, copies: 2 });
    await target.release();
    expect(receiver.received.map(({ event }) => event.id)).toEqual([
      fourth,
      second,
      fourth,
      fourth,
      first,
      third,
    ]);
    await paidSession(target);
    await target.idle();
    expect(receiver.types().slice(-4)).toEqual(PAID);
  });

  it('tells what the endpoint answered when delivered by hand', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    await paidSession(target);
    await target.idle();
    const event = target.events()[0]?.id ?? '';
    receiver.answerNext(503);
    expect(await target.deliver({ event })).toEqual({ sent: [{ event, status: 503 }] });
    await expect(target.deliver({ event: 'evt_none' })).rejects.toThrow("No such event: 'evt_none'");
  });
});

describe('chaos', () => {
  async function typesUnder(seed: string, chaos: object): Promise<string[]> {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url, seed });
    await target.setChaos(chaos);
    for (let count = 0; count < 6; count += 1) {
      await paidSession(target);
      await target.idle();
    }
    return receiver.types();
  }

  it('loses webhooks by a seed, the same ones each time', async () => {
    const lost = await typesUnder('a seed', { loss: 0.5 });
    expect(lost.length).toBeGreaterThan(4);
    expect(lost.length).toBeLessThan(20);
    expect(await typesUnder('a seed', { loss: 0.5 })).toEqual(lost);
    expect(await typesUnder('another seed', { loss: 0.5 })).not.toEqual(lost);
  });

  it('doubles every webhook when told to', async () => {
    const doubled = await typesUnder('a seed', { duplicate: 1 });
    const inPairs = Array.from({ length: 6 }, () => [...PAID, ...PAID]).flat();
    expect(doubled.toSorted()).toEqual(inPairs.toSorted());
  });

  it('reorders without losing or doubling any', async () => {
    const reordered = await typesUnder('a seed', { reorder: 0.5 });
    const inOrder = Array.from({ length: 6 }, () => PAID).flat();
    expect(reordered).not.toEqual(inOrder);
    expect(reordered.toSorted()).toEqual(inOrder.toSorted());
  });

  it('delays webhooks, and they all arrive', async () => {
    const delayed = await typesUnder('a seed', { delay: 1, maxDelayMs: 20 });
    expect(delayed.toSorted()).toEqual(
      Array.from({ length: 6 }, () => PAID)
        .flat()
        .toSorted(),
    );
  });

  it('can be on, and webhooks off, from the start', async () => {
    const receiver = await webhookReceiver();
    const lossy = await simulator({ webhookUrl: receiver.url, chaos: { loss: 1 } });
    await paidSession(lossy);
    const silent = await simulator({ webhookUrl: receiver.url, webhooksOn: false });
    await paidSession(silent);
    await lossy.idle();
    expect(receiver.received).toEqual([]);
    expect(silent.events().map(({ type }) => type)).toEqual(PAID);
  });

  it('ends with calm', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    await target.setChaos({ loss: 1 });
    await paidSession(target);
    await target.calm();
    await paidSession(target);
    await target.idle();
    expect(receiver.types()).toEqual(PAID);
  });
});
