import { describe, expect, it } from 'vitest';
import { topics } from '../../../src/realtime/bus/bus.ts';
import {
  type Source,
  merchantOrdersSource,
  orderTransitionSource,
  walletEntriesSource,
} from '../../../src/realtime/sources.ts';
import {
  ORDER_ID,
  ORDER_TOPIC,
  REF,
  changed,
  collect,
  controlledBus,
  customer,
  noticeOf,
  orderWith,
  settle,
  world,
} from './support.ts';

const office = {
  tenant: 't_1',
  subject: 'office',
  role: 'MERCHANT',
  merchantId: 'm_1',
  expiresAtMs: 4e12,
} as const;
const MERCHANT_TOPIC = topics.merchantOrders('t_1', 'm_1');
const WALLET_TOPIC = topics.walletEntries('t_1', 'u_1');
const readOrder = () => Promise.resolve(orderWith(1));
const entryNotice = (entryId: string) =>
  ({ kind: 'entry', entry: { tenant: 't_1', accountId: 'u_1', entryId } }) as const;

describe('nothing stays of a subscription whose client has gone', () => {
  it('through a thousand rounds of subscribing and leaving', async () => {
    const { bus, realtime, timers } = world({ readOrder });
    for (let round = 0; round < 1_000; round += 1) {
      const source = await orderTransitionSource(realtime, customer(), {
        orderId: ORDER_ID,
        afterVersion: 0,
      });
      const first = source.next();
      if (round % 2 === 0) await first;
      await source.return(undefined);
    }
    await settle();
    expect([realtime.sources.count(), realtime.orders.count(), bus.listeners(), timers.pending()]).toEqual([
      0, 0, 0, 0,
    ]);
  });

  it.each([
    [
      'before its first next()',
      async (source: Source<unknown>) => {
        await source.return(undefined);
      },
    ],
    [
      'while parked with nothing to send',
      async (source: Source<unknown>) => {
        await source.next();
        const parked = source.next();
        await settle();
        await source.return(undefined);
        expect(await parked).toEqual({ done: true, value: undefined });
      },
    ],
    [
      'with an event that nobody takes',
      async (source: Source<unknown>) => {
        await source.next();
        await settle();
        await source.return(undefined);
      },
    ],
    [
      'by an error thrown into it',
      async (source: Source<unknown>) => {
        await source.next();
        await source.throw(new Error('gone')).catch(() => undefined);
      },
    ],
  ])('%s', async (_when, leave) => {
    const { bus, realtime, timers } = world({ readOrder });
    const source = await orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
    await leave(source);
    await settle();
    expect([realtime.sources.count(), realtime.orders.count(), bus.listeners(), timers.pending()]).toEqual([
      0, 0, 0, 0,
    ]);
  });

  it('when it goes while the bus is still subscribing', async () => {
    let subscribed = (): void => undefined;
    const bus = controlledBus(() => new Promise((resolve) => (subscribed = resolve)));
    const { realtime, timers } = world({ readOrder, bus });
    const source = await orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 1 });
    void source.next();
    await settle();
    await source.return(undefined);
    subscribed();
    await settle();
    expect([realtime.sources.count(), realtime.orders.count(), bus.listeners(), timers.pending()]).toEqual([
      0, 0, 0, 0,
    ]);
  });

  it('while another watcher of the same order stays, and goes on hearing of it', async () => {
    let order = orderWith(1);
    const { bus, realtime } = world({ readOrder: () => Promise.resolve(order) });
    const open = () => orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
    const leaving = await open();
    const staying = await open();
    const { received } = collect(staying, (event) => event.transition.version);
    await leaving.next();
    await leaving.return(undefined);
    order = changed(order);
    bus.tell(ORDER_TOPIC, noticeOf(order, 2));
    await settle();
    expect(received).toEqual([1, 2]);
    expect(realtime.sources.count()).toBe(1);
    await staying.return(undefined);
  });
});

describe('a principal', () => {
  it('has a limited number of subscriptions, others not counting, and gets one back when one ends', async () => {
    const { realtime } = world({ readOrder, maxPerPrincipal: 2 });
    const open = (viewer = customer()) =>
      orderTransitionSource(realtime, viewer, { orderId: ORDER_ID, afterVersion: 0 });
    const sources = [await open(), await open()];
    await Promise.all(sources.map((source) => source.next()));
    await expect(open()).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED' } });
    await expect(open({ ...office })).resolves.toBeDefined();
    await sources[0]?.return(undefined);
    await expect(open()).resolves.toBeDefined();
    await sources[1]?.return(undefined);
  });

  it('does not get past the limit by opening many at once', async () => {
    const { realtime } = world({ readOrder, maxPerPrincipal: 2 });
    const sources = await Promise.all(
      Array.from({ length: 5 }, () =>
        orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 }),
      ),
    );
    const first = await Promise.all(sources.map((source) => source.next()));
    expect(first.map(({ done }) => done)).toEqual([false, false, true, true, true]);
    expect(realtime.sources.count()).toBe(2);
    await Promise.all(sources.map((source) => source.return(undefined)));
    expect(realtime.sources.count()).toBe(0);
  });
});

describe("a merchant's live feed", () => {
  it('carries the transitions of its orders, as the same object to all who watch', async () => {
    const { bus, realtime } = world({ readOrder });
    const feeds = [0, 1].map(() => {
      const source = merchantOrdersSource(realtime, office, { merchantId: 'm_1' });
      return { source, ...collect(source, (event) => event) };
    });
    await settle();
    bus.tell(MERCHANT_TOPIC, noticeOf(orderWith(2), 2));
    await settle();
    expect(feeds[0]?.received).toMatchObject([{ ref: REF, transition: { version: 2 } }]);
    expect(feeds[1]?.received[0]).toBe(feeds[0]?.received[0]);
    await Promise.all(feeds.map(({ source }) => source.return(undefined)));
    expect(bus.listeners()).toBe(0);
  });

  it.each([
    ['another merchant', { ...office, merchantId: 'm_2' }, 'm_1'],
    ['a customer', customer(), 'm_1'],
    ['a terminal of the merchant', { ...office, role: 'TERMINAL' } as const, 'm_1'],
    ['an admin, of a name that reaches into another topic', { ...office, role: 'ADMIN' } as const, 'm_1#x'],
  ])('refuses %s', (_who, viewer, merchantId) => {
    const { realtime } = world({ readOrder });
    expect(() => merchantOrdersSource(realtime, viewer, { merchantId })).toThrow('You may not watch this.');
  });

  it.each([
    [
      'the bus may have missed something',
      (bus: ReturnType<typeof controlledBus>) => {
        bus.tell(MERCHANT_TOPIC, { kind: 'gap' });
      },
    ],
    [
      'its client is ten notices behind',
      (bus: ReturnType<typeof controlledBus>) => {
        for (let times = 0; times < 20; times += 1) bus.tell(MERCHANT_TOPIC, noticeOf(orderWith(2), 2));
      },
    ],
  ])('ends when %s, so that its client comes again and refetches', async (_why, happen) => {
    const { bus, realtime } = world({ readOrder, maxBacklog: 10 });
    const source = merchantOrdersSource(realtime, office, { merchantId: 'm_1' });
    const first = source.next();
    await settle();
    bus.tell(MERCHANT_TOPIC, noticeOf(orderWith(1), 1));
    await first;
    happen(bus);
    await settle();
    expect(realtime.sources.count()).toBe(0);
    expect(await source.next()).toEqual({ done: true, value: undefined });
    expect(bus.listeners()).toBe(0);
  });
});

describe("an account's live entries", () => {
  it('go to its customer and to an admin, in order', async () => {
    const { bus, realtime } = world({ readOrder });
    const viewers = [customer(), { ...office, role: 'ADMIN' } as const];
    const feeds = viewers.map((viewer) => {
      const source = walletEntriesSource(realtime, viewer, { accountId: 'u_1' });
      return { source, ...collect(source, ({ entry }) => entry.entryId) };
    });
    await settle();
    for (const entryId of ['e1', 'e2', 'e3']) bus.tell(WALLET_TOPIC, entryNotice(entryId));
    await settle();
    expect(feeds.map(({ received }) => received)).toEqual([
      ['e1', 'e2', 'e3'],
      ['e1', 'e2', 'e3'],
    ]);
    await Promise.all(feeds.map(({ source }) => source.return(undefined)));
  });

  it.each([
    ['another customer', customer('u_2')],
    ['the same name in another tenant', { ...customer('u_2'), tenant: 't_2' }],
    ['a merchant', office],
    ['a terminal', { ...office, role: 'TERMINAL' } as const],
  ])('are refused to %s', (_who, viewer) => {
    const { realtime } = world({ readOrder });
    expect(() => walletEntriesSource(realtime, viewer, { accountId: 'u_1' })).toThrow(
      'You may not watch this.',
    );
  });
});
