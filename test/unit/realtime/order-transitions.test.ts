import { describe, expect, it } from 'vitest';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { type Source, orderTransitionSource } from '../../../src/realtime/sources.ts';
import type { TransitionEvent } from '../../../src/realtime/order-feeds.ts';
import {
  ORDER_ID,
  ORDER_TOPIC,
  REF,
  REREAD_MS,
  changed,
  collect,
  controlledBus,
  customer,
  noticeOf,
  orderWith,
  settle,
  world,
} from './support.ts';

const versionOf = (event: TransitionEvent): number => event.transition.version;

async function nextVersion(source: Source<TransitionEvent>): Promise<number> {
  const next = await source.next();
  if (next.done === true) throw new Error('the source has ended');
  return versionOf(next.value);
}

/** A promise that the test opens. */
function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** The points between the first read and live events at which something may happen on another machine. */
const POINTS = [
  'before the subscription',
  'during the read that checks access',
  'between that and the first next()',
  'while the bus is subscribing',
  'during the read after subscribing',
  'after that read',
] as const;
type Point = (typeof POINTS)[number];

/** What another machine does to the order: commits at one point; tells of it there or later, or never. */
interface Change {
  readonly committedAt: number;
  readonly sentAt: number | 'never';
}

interface Run {
  readonly received: readonly number[];
  readonly versions: number;
}

/** Plays a subscription through all points, with these changes at theirs. */
async function play(changes: readonly Change[], readsAt: 'its start' | 'its end'): Promise<Run> {
  let order = orderWith(1);
  const gates = [gate(), gate()];
  let reads = 0;
  const readOrder = async (): Promise<Order> => {
    const atStart = order;
    await gates[reads++]?.passed;
    return readsAt === 'its start' ? atStart : order;
  };
  const subscribing = gate();
  const { bus, realtime, timers } = world({ readOrder, bus: controlledBus(() => subscribing.passed) });
  const at = async (point: Point): Promise<void> => {
    const index = POINTS.indexOf(point);
    for (const { committedAt } of changes) if (committedAt === index) order = changed(order);
    changes.forEach(({ sentAt }, change) => {
      if (sentAt === index) bus.tell(ORDER_TOPIC, noticeOf(order, change + 2));
    });
    await settle();
  };

  await at('before the subscription');
  const opening = orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
  await settle();
  await at('during the read that checks access');
  gates[0]?.open();
  const source = await opening;
  await at('between that and the first next()');
  const { received } = collect(source, versionOf);
  await settle();
  await at('while the bus is subscribing');
  subscribing.open();
  await settle();
  await at('during the read after subscribing');
  gates[1]?.open();
  await settle();
  await at('after that read');
  if (changes.some(({ sentAt }) => sentAt === 'never')) timers.advance(REREAD_MS * 2);
  await settle();
  await source.return(undefined);
  return { received, versions: order.version };
}

function* interleavings(): Generator<readonly Change[]> {
  const reported = [...POINTS.keys(), 'never'] as const;
  const after = (committedAt: number) =>
    reported.filter((sentAt) => sentAt === 'never' || sentAt >= committedAt);
  for (const first of POINTS.keys()) {
    for (const second of POINTS.keys()) {
      if (second < first) continue;
      for (const sentFirst of after(first)) {
        for (const sentSecond of after(second)) {
          yield [
            { committedAt: first, sentAt: sentFirst },
            { committedAt: second, sentAt: sentSecond },
          ];
        }
      }
    }
  }
}

describe('a subscription to an order', () => {
  it.each(['its start', 'its end'] as const)(
    'misses nothing and repeats nothing wherever two changes fall between snapshot and live, told in any order or never (a read sees the table as of %s)',
    async (readsAt) => {
      let played = 0;
      for (const changes of interleavings()) {
        const { received, versions } = await play(changes, readsAt);
        expect({ changes, received }).toEqual({ changes, received: [1, 2, 3] });
        expect(versions).toBe(3);
        played += 1;
      }
      expect(played).toBe(434);
    },
    60_000,
  );

  it('goes on from the version that its client has seen, across any number of reconnections', async () => {
    let order = orderWith(2);
    const { bus, realtime } = world({ readOrder: () => Promise.resolve(order) });
    const seen: number[] = [];
    for (let connection = 0; connection < 5; connection += 1) {
      const source = await orderTransitionSource(realtime, customer(), {
        orderId: ORDER_ID,
        afterVersion: seen.at(-1) ?? 0,
      });
      const { received } = collect(source, versionOf);
      order = changed(order);
      await settle();
      bus.tell(ORDER_TOPIC, noticeOf(order, order.version));
      await settle();
      seen.push(...received);
      await source.return(undefined);
      // In the tunnel.
      order = changed(order);
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('hears of nothing twice when the bus repeats and reorders', async () => {
    const order = orderWith(5);
    let known = orderWith(1);
    const { bus, realtime } = world({ readOrder: () => Promise.resolve(known) });
    const source = await orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
    const { received } = collect(source, versionOf);
    await settle();
    known = order;
    for (const version of [4, 2, 2, 5, 3, 4, 1]) bus.tell(ORDER_TOPIC, noticeOf(order, version));
    await settle();
    expect(received).toEqual([1, 2, 3, 4, 5]);
    await source.return(undefined);
  });

  it('heals a lost publish by a read of its own, and counts it', async () => {
    let order = orderWith(1);
    const { realtime, timers, healed } = world({ readOrder: () => Promise.resolve(order) });
    const source = await orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
    const { received } = collect(source, versionOf);
    await settle();
    order = changed(order);
    timers.advance(REREAD_MS);
    await settle();
    expect(received).toEqual([1, 2]);
    expect(healed()).toBe(1);
    await source.return(undefined);
  });

  it('reads again when the bus says that it may have missed something', async () => {
    let order = orderWith(1);
    const { bus, realtime } = world({ readOrder: () => Promise.resolve(order) });
    const source = await orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
    const { received } = collect(source, versionOf);
    await settle();
    order = changed(order);
    bus.tell(ORDER_TOPIC, { kind: 'gap' });
    await settle();
    expect(received).toEqual([1, 2]);
    await source.return(undefined);
  });

  it('lives through an outage of the table and catches up by itself', async () => {
    let order = orderWith(1);
    let down = false;
    const readOrder = (): Promise<Order> =>
      down ? Promise.reject(new Error('down')) : Promise.resolve(order);
    const { bus, realtime, timers } = world({ readOrder });
    const source = await orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
    const { received, ended } = collect(source, versionOf);
    await settle();
    down = true;
    order = changed(order);
    bus.tell(ORDER_TOPIC, noticeOf(order, 2));
    await settle();
    timers.advance(1_000);
    await settle();
    expect(received).toEqual([1]);
    down = false;
    timers.advance(1_000);
    await settle();
    expect(received).toEqual([1, 2]);
    expect(ended()).toBe(false);
    await source.return(undefined);
  });

  it('costs one bus subscription and one read an event, however many watch', async () => {
    let order = orderWith(1);
    let reads = 0;
    const readOrder = (): Promise<Order> => {
      reads += 1;
      return Promise.resolve(order);
    };
    const { bus, realtime } = world({ readOrder });
    const watchers = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const source = await orderTransitionSource(realtime, customer(), {
          orderId: ORDER_ID,
          afterVersion: 0,
        });
        return { source, ...collect(source, (event) => event) };
      }),
    );
    await settle();
    expect(bus.listeners()).toBe(1);
    reads = 0;
    order = changed(order);
    bus.tell(ORDER_TOPIC, noticeOf(order, 2));
    await settle();
    expect(reads).toBe(1);
    const events = watchers.map(({ received }) => received[1]);
    expect(events[0]?.transition.version).toBe(2);
    expect(events[0]?.order?.version).toBe(2);
    expect(new Set(events).size).toBe(1);
    await Promise.all(watchers.map(({ source }) => source.return(undefined)));
    expect(bus.listeners()).toBe(0);
    expect(realtime.orders.count()).toBe(0);
  });

  it('joins others without taking them back to an older read of its own', async () => {
    let order = orderWith(1);
    const slow = gate();
    let reads = 0;
    const readOrder = async (): Promise<Order> => {
      const atStart = order;
      // The third: the access check of the one who joins, after the two reads of the first subscriber.
      if (++reads === 3) await slow.passed;
      return atStart;
    };
    const { bus, realtime } = world({ readOrder });
    const open = (): Promise<Source<TransitionEvent>> =>
      orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
    const first = await open();
    const early = collect(first, versionOf);
    await settle();
    const joining = open();
    await settle();
    order = changed(order);
    bus.tell(ORDER_TOPIC, noticeOf(order, 2));
    await settle();
    slow.open();
    const second = await joining;
    const late = collect(second, versionOf);
    await settle();
    expect([early.received, late.received]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    await Promise.all([first.return(undefined), second.return(undefined)]);
  });

  it('that is slow keeps nothing waiting for it, slows nobody, and misses nothing', async () => {
    let order = orderWith(1);
    const { bus, realtime } = world({ readOrder: () => Promise.resolve(order) });
    const open = (): Promise<Source<TransitionEvent>> =>
      orderTransitionSource(realtime, customer(), { orderId: ORDER_ID, afterVersion: 0 });
    const slow = await open();
    const fast = await open();
    const { received } = collect(fast, versionOf);
    expect(await nextVersion(slow)).toBe(1);
    for (let version = 2; version <= 200; version += 1) {
      order = changed(order);
      bus.tell(ORDER_TOPIC, noticeOf(order, version));
      await settle();
    }
    expect(received.length).toBe(200);
    const rest: number[] = [];
    while (rest.length < 199) rest.push(await nextVersion(slow));
    expect(rest).toEqual(Array.from({ length: 199 }, (_unused, index) => index + 2));
    await slow.return(undefined);
    await fast.return(undefined);
  });
});

describe('access to an order', () => {
  it.each([
    ['a stranger of the same tenant', customer('u_2'), ORDER_ID],
    ['the same name in another tenant', { ...customer(), tenant: 't_2' }, ORDER_ID],
    [
      'a merchant that does not sell it',
      { ...customer('x'), role: 'MERCHANT', merchantId: 'm_2' } as const,
      ORDER_ID,
    ],
    [
      'its customer, who names an order that is not there',
      customer(),
      'T3JkZXIjdF8xI3VfMSMwMUhaWFc1SjhRMDAwMDAwMDAwMDAwMDAwMg',
    ],
    ['its customer, who names nonsense', customer(), 'nonsense'],
  ])('%s is refused at once, and alike', async (_who, viewer, orderId) => {
    const readOrder = (ref: typeof REF): Promise<Order | undefined> =>
      Promise.resolve(ref.orderId === REF.orderId ? orderWith(1) : undefined);
    const { realtime } = world({ readOrder });
    await expect(orderTransitionSource(realtime, viewer, { orderId, afterVersion: 0 })).rejects.toMatchObject(
      {
        message: 'You may not watch this.',
        extensions: { code: 'FORBIDDEN' },
      },
    );
    expect(realtime.sources.count()).toBe(0);
  });

  it('is judged anew on what was just read, for every event', async () => {
    let order = orderWith(1);
    const { bus, realtime } = world({ readOrder: () => Promise.resolve(order) });
    const viewer = { ...customer('office'), role: 'MERCHANT', merchantId: 'm_1' } as const;
    const source = await orderTransitionSource(realtime, viewer, { orderId: ORDER_ID, afterVersion: 0 });
    const { received, ended } = collect(source, versionOf);
    await settle();
    order = { ...changed(order), merchantId: 'm_2' };
    bus.tell(ORDER_TOPIC, noticeOf(order, 2));
    await settle();
    expect(received).toEqual([1]);
    expect(ended()).toBe(true);
    expect(bus.listeners()).toBe(0);
  });

  it('ends with the token: nothing is sent from its expiry on, and all is given back', async () => {
    let order = orderWith(1);
    const { bus, clock, realtime, timers } = world({ readOrder: () => Promise.resolve(order) });
    const source = await orderTransitionSource(realtime, customer('u_1', clock.nowMs() + 5_000), {
      orderId: ORDER_ID,
      afterVersion: 0,
    });
    const { received, ended } = collect(source, versionOf);
    await settle();
    timers.advance(3_000);
    order = changed(order);
    bus.tell(ORDER_TOPIC, noticeOf(order, 2));
    await settle();
    expect(received).toEqual([1, 2]);
    order = changed(order);
    // The event and the expiry in one moment, the event first.
    clock.advance(2_000);
    bus.tell(ORDER_TOPIC, noticeOf(order, 3));
    await settle();
    expect(received).toEqual([1, 2]);
    expect(ended()).toBe(true);
    expect([realtime.sources.count(), realtime.orders.count(), bus.listeners(), timers.pending()]).toEqual([
      0, 0, 0, 0,
    ]);
  });
});
