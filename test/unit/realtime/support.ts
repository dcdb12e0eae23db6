import type { Viewer } from '../../../src/auth/viewer.ts';
import type { OrderRef } from '../../../src/ledger/kernel/keys.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { note } from '../../../src/ledger/model/orders/order-changes.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import {
  type Bus,
  type Heard,
  type Listener,
  type Notice,
  createInProcessBus,
  topics,
} from '../../../src/realtime/bus/bus.ts';
import { type Realtime, type Source, createRealtime } from '../../../src/realtime/sources.ts';
import type { Timers } from '../../../src/realtime/timers.ts';
import { type OwnedClock, ownedClock } from '../../support/owned-time.ts';
import { openedOrder } from '../../support/sample-orders.ts';

export const REF: OrderRef = { tenant: 't_1', accountId: 'u_1', orderId: '01HZXW5J8Q0000000000000001' };
export const ORDER_ID = encodeNodeId('Order', REF.tenant, REF.accountId, REF.orderId);

/** An order of u_1 at m_1 with this many transitions on its timeline. */
export function orderWith(transitions: number): Order {
  let order = openedOrder({ ...REF, merchantId: 'm_1', currency: 'USD', amount: '0', atMs: 0 });
  while (order.version < transitions) order = changed(order);
  return order;
}

export function changed(order: Order): Order {
  return note(order, { cause: 'PAYMENT_DECLINED', actor: 'stripe', atMs: order.version });
}

/** The notice that tells of a version of an order. */
export function noticeOf(order: Order, version: number): Notice {
  const transition = order.timeline.find((one) => one.version === version);
  if (transition === undefined) throw new Error(`no version ${version}`);
  return { kind: 'transition', order: REF, merchantId: 'm_1', transition };
}

export function customer(subject = 'u_1', expiresAtMs = Number.MAX_SAFE_INTEGER): Viewer {
  return { tenant: 't_1', subject, role: 'CUSTOMER', expiresAtMs };
}

/** Timers that run when the test says so. */
export interface OwnedTimers extends Timers {
  /** Runs all that were due within this time, the earliest first. */
  readonly advance: (ms: number) => void;
  readonly pending: () => number;
}

export function ownedTimers(clock: OwnedClock): OwnedTimers {
  const pending = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    pending: () => pending.size,
    after: (delayMs, run) => {
      const timer = { atMs: clock.nowMs() + Math.max(delayMs, 0), run };
      pending.add(timer);
      return () => {
        pending.delete(timer);
      };
    },
    advance: (ms) => {
      const untilMs = clock.nowMs() + ms;
      for (;;) {
        const [next] = [...pending].sort((one, other) => one.atMs - other.atMs);
        if (next === undefined || next.atMs > untilMs) break;
        pending.delete(next);
        clock.advance(Math.max(next.atMs - clock.nowMs(), 0));
        next.run();
      }
      clock.advance(untilMs - clock.nowMs());
    },
  };
}

/** A bus that loses, repeats and is slow when the test says so, and counts who listens. */
export interface ControlledBus extends Bus {
  readonly tell: (topic: string, heard: Heard) => void;
  readonly listeners: () => number;
}

export function controlledBus(whenSubscribed: () => Promise<void> = () => Promise.resolve()): ControlledBus {
  const bus = createInProcessBus();
  const listeners = new Set<readonly [string, Listener]>();
  return {
    ...bus,
    subscribe: async (topic, listener) => {
      await whenSubscribed();
      const entry = [topic, listener] as const;
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
      };
    },
    tell: (topic, heard) => {
      for (const [one, listener] of [...listeners]) if (one === topic) listener(heard);
    },
    publish: () => undefined,
    listeners: () => listeners.size,
  };
}

export interface World {
  readonly clock: OwnedClock;
  readonly timers: OwnedTimers;
  readonly bus: ControlledBus;
  readonly realtime: Realtime;
  readonly healed: () => number;
}

export const REREAD_MS = 20_000;

export function world(options: {
  readonly readOrder: (ref: OrderRef) => Promise<Order | undefined>;
  readonly bus?: ControlledBus;
  readonly maxPerPrincipal?: number;
  readonly maxBacklog?: number;
}): World {
  const clock = ownedClock();
  const timers = ownedTimers(clock);
  const bus = options.bus ?? controlledBus();
  let healed = 0;
  return {
    clock,
    timers,
    bus,
    healed: () => healed,
    realtime: createRealtime(
      {
        bus,
        readOrder: options.readOrder,
        clock,
        ids: { fraction: () => 0.5 },
        timers,
        logger: { warn: () => undefined },
        metrics: {
          set: () => undefined,
          count: () => {
            healed += 1;
          },
        },
      },
      {
        maxSubscriptionsPerPrincipal: options.maxPerPrincipal ?? 1_000,
        rereadMs: REREAD_MS,
        maxBacklog: options.maxBacklog ?? 10,
      },
    ),
  };
}

export const ORDER_TOPIC = topics.order(REF);

/** Lets everything go on that waits for nothing but promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Reads a source to its end in the background; `received` is what has come so far. */
export function collect<Event, Value>(
  source: Source<Event>,
  toValue: (event: Event) => Value,
): { readonly received: readonly Value[]; readonly ended: () => boolean } {
  const received: Value[] = [];
  let ended = false;
  void (async () => {
    for await (const event of source) received.push(toValue(event));
    ended = true;
  })();
  return { received, ended: () => ended };
}
