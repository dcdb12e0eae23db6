import type { Ids } from '../ledger/kernel/ids.ts';
import type { OrderRef } from '../ledger/kernel/keys.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import type { Order, Transition } from '../ledger/model/orders/order.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type Bus, type Heard, topics } from './bus/bus.ts';
import type { Cancel, Timers } from './timers.ts';

/** A transition for subscribers. All of them get the same object, so that work on it can be shared. */
export interface TransitionEvent {
  readonly ref: OrderRef;
  readonly transition: Transition;
  /** The order as read after the transition. Absent if nobody has read it yet: resolvers read it when they need it. */
  readonly order?: Order;
}

export interface OrderWatch {
  /** The order as last read. */
  readonly order: () => Order;
  /** The first transition above a version, or undefined if there is none yet. */
  readonly next: (afterVersion: number) => TransitionEvent | undefined;
  readonly leave: () => void;
}

/**
 * The orders that subscribers of this process watch. Each has one bus subscription and one reader, however many watch it.
 *
 * A notice only causes a read. Subscribers get their transitions from the order's timeline: in order, none twice and none
 * missing, even if the bus drops, repeats or reorders notices. A subscriber needs no buffer: it remembers a version and takes
 * what comes after it. Access checks and resolvers use the order that was read.
 */
export interface OrderFeeds {
  /** `seen`: the order as the caller has just read it. `wake` is called whenever there may be more. */
  readonly watch: (seen: Order, wake: () => void) => OrderWatch;
  readonly count: () => number;
}

export interface OrderFeedsOptions {
  readonly bus: Bus;
  /** A consistent read. */
  readonly readOrder: (ref: OrderRef) => Promise<Order | undefined>;
  readonly ids: Pick<Ids, 'fraction'>;
  readonly timers: Timers;
  /** How often an order is read again without a notice, on average. It heals a lost publish. */
  readonly rereadMs: number;
  readonly logger: Pick<Logger, 'warn'>;
  readonly metrics: Pick<Metrics, 'count'>;
}

const FIRST_RETRY_MS = 500;

export function createOrderFeeds(options: OrderFeedsOptions): OrderFeeds {
  const feeds = new Map<string, ReturnType<typeof openFeed>>();
  return {
    count: () => feeds.size,
    watch: (seen, wake) => {
      const topic = topics.order(seen);
      const feed = feeds.get(topic) ?? openFeed(options, topic, seen);
      feeds.set(topic, feed);
      feed.adopt(seen);
      feed.watchers.add(wake);
      return {
        order: () => feed.current().order,
        next: (afterVersion) =>
          feed.current().events.find((event) => event.transition.version > afterVersion),
        leave: () => {
          feed.watchers.delete(wake);
          if (feed.watchers.size > 0 || feeds.get(topic) !== feed) return;
          feeds.delete(topic);
          feed.close();
        },
      };
    },
  };
}

/** Subscribes first, then reads: the read has what was committed before it, and notices announce what comes later. */
function openFeed(options: OrderFeedsOptions, topic: string, seen: Order) {
  const { bus, ids, timers, rereadMs, logger, metrics } = options;
  const ref: OrderRef = { tenant: seen.tenant, accountId: seen.accountId, orderId: seen.orderId };
  const watchers = new Set<() => void>();
  let current = snapshotOf(ref, seen);
  /** `again`: a notice came during a read, which may be too old for it. */
  const reading = { now: false, again: false, failures: 0, closed: false };
  let cancelTimer: Cancel = () => undefined;

  /** Reads may overtake each other; the one with the higher `rev` is the newer. */
  function adopt(order: Order): void {
    if (order.rev <= current.order.rev) return;
    current = snapshotOf(ref, order);
    for (const wake of [...watchers]) wake();
  }

  async function read(): Promise<void> {
    reading.again = reading.now;
    if (reading.now || reading.closed) return;
    reading.now = true;
    cancelTimer();
    try {
      const order = await options.readOrder(ref);
      reading.failures = 0;
      if (order !== undefined) adopt(order);
    } catch (error) {
      reading.failures += 1;
      const about = { tenant: ref.tenant, orderId: orderNodeId(ref) };
      logger.warn('A watched order could not be read; it will be tried again', about, error);
    }
    reading.now = false;
    if (reading.again && reading.failures === 0) void read();
    else schedule();
  }

  function schedule(): void {
    if (reading.closed) return;
    const { failures } = reading;
    const delayMs = failures === 0 ? rereadMs : Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), rereadMs);
    // Jitter, so that the orders of a whole process are not read in one burst.
    cancelTimer = timers.after(delayMs * (0.5 + ids.fraction()), () => void reread());
  }

  async function reread(): Promise<void> {
    const { version } = current.order;
    await read();
    // The bus had lost this.
    if (current.order.version > version) metrics.count('BusPublishFailed');
  }

  const subscribed = bus.subscribe(topic, (heard: Heard) => {
    if (heard.kind !== 'transition' || heard.transition.version > current.order.version) void read();
  });
  void subscribed.then(read);
  const close = (): void => {
    reading.closed = true;
    cancelTimer();
    void subscribed.then((unsubscribe) => {
      unsubscribe();
    });
  };
  return { watchers, current: () => current, adopt, close };
}

function snapshotOf(ref: OrderRef, order: Order) {
  const events: readonly TransitionEvent[] = order.timeline.map((transition) => ({ ref, transition, order }));
  return { order, events };
}
