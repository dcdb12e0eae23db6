import type { Ids } from '../ledger/kernel/ids.ts';
import type { OrderRef } from '../ledger/kernel/keys.ts';
import type { Order, Transition } from '../ledger/model/orders/order.ts';
import { type Bus, type Heard, topics } from './bus/bus.ts';
import type { Cancel, Timers } from './timers.ts';

/** A transition on its way to a subscriber. The same object for all who get it, so that work on it can be shared. */
export interface TransitionEvent {
  readonly ref: OrderRef;
  readonly transition: Transition;
  /** The order as read after the transition; absent where nobody has read it: then it's read when it's selected. */
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
 * The orders that somebody in this process watches: one bus subscription and one reader for each, however many watch.
 *
 * A notice only says that there is something to read. So every subscriber gets its transitions from the timeline itself: in order,
 * none twice, none missing, whatever the bus drops, repeats or mixes up; and no subscriber needs a buffer: it has a version, and
 * takes what comes after it when it can. The order that was read serves the access check and the resolvers too.
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
  /** How often an order is read again though nothing was heard, on average: heals a lost publish. */
  readonly rereadMs: number;
  /** A re-read found what the bus had not told. */
  readonly onHealed: () => void;
  /** A read failed; it is repeated. */
  readonly onReadFailure: (ref: OrderRef, error: unknown) => void;
}

const FIRST_RETRY_MS = 500;

export function createOrderFeeds(options: OrderFeedsOptions): OrderFeeds {
  const feeds = new Map<string, Feed>();
  return {
    count: () => feeds.size,
    watch: (seen, wake) => {
      const topic = topics.order(seen);
      const feed = feeds.get(topic) ?? openFeed(options, topic, seen);
      feeds.set(topic, feed);
      feed.adopt(seen);
      feed.watchers.add(wake);
      return {
        order: () => feed.snapshot().order,
        next: (afterVersion) => feed.snapshot().next(afterVersion),
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

interface Feed {
  readonly watchers: Set<() => void>;
  readonly snapshot: () => Snapshot;
  readonly adopt: (order: Order) => void;
  readonly close: () => void;
}

/** Subscribes first, then reads: what was committed before the read is in it, and what comes later is heard. */
function openFeed(options: OrderFeedsOptions, topic: string, seen: Order): Feed {
  const { bus, ids, timers, rereadMs } = options;
  const ref: OrderRef = { tenant: seen.tenant, accountId: seen.accountId, orderId: seen.orderId };
  const watchers = new Set<() => void>();
  let snapshot = snapshotOf(ref, seen);
  /** `again`: a read that began before a notice came may be too old for it. */
  const reading = { now: false, again: false, failures: 0, closed: false };
  let cancelTimer: Cancel = () => undefined;

  /** Reads may overtake each other; `rev` tells which is the newer. */
  function adopt(order: Order): void {
    if (order.rev <= snapshot.order.rev) return;
    snapshot = snapshotOf(ref, order);
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
      options.onReadFailure(ref, error);
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
    const { version } = snapshot.order;
    await read();
    if (snapshot.order.version > version) options.onHealed();
  }

  function hear(heard: Heard): void {
    if (heard.kind === 'transition' && heard.transition.version <= snapshot.order.version) return;
    void read();
  }

  const subscribed = bus.subscribe(topic, hear);
  void subscribed.then(read);
  return {
    watchers,
    snapshot: () => snapshot,
    adopt,
    close: () => {
      reading.closed = true;
      cancelTimer();
      void subscribed.then((unsubscribe) => {
        unsubscribe();
      });
    },
  };
}

interface Snapshot {
  readonly order: Order;
  readonly next: (afterVersion: number) => TransitionEvent | undefined;
}

function snapshotOf(ref: OrderRef, order: Order): Snapshot {
  const events = new Map<number, TransitionEvent>();
  return {
    order,
    next: (afterVersion) => {
      const transition = order.timeline.find(({ version }) => version > afterVersion);
      if (transition === undefined) return undefined;
      const event = events.get(transition.version) ?? { ref, transition, order };
      events.set(transition.version, event);
      return event;
    },
  };
}
