import { DUE_SHARDS } from '../ledger/model/orders/due.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import type { OrderRef } from '../ledger/kernel/keys.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import { type DueOrder, type DuePage, dueOrders } from '../ledger/usecases/steps/due-orders.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface DueLoopOptions {
  readonly ledger: Ledger;
  /** Does what a due order needs, and says whether it moved on. */
  readonly work: (ref: OrderRef) => Promise<boolean>;
  /** Orders worked on at the same time. */
  readonly concurrency: number;
  /** The pause after a shard that had something to do. */
  readonly busyPollMs: number;
  /** How long a whole round over all shards takes at most while there is nothing to do. */
  readonly idlePollMs: number;
  /** How long after a wake-up its order is taken up: the answer to whoever made it due goes out first. */
  readonly wakeAfterMs: number;
  /** How long an order that did not move on is left alone while it is listed as before: the index may be behind. */
  readonly restMs: number;
  /** Waits, or returns early when the signal aborts. Never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
}

export interface DueLoop {
  /** Takes up an order that may have become due just now, without waiting for its turn in the index. */
  readonly wake: (ref: OrderRef) => void;
  /** Takes up nothing more, and resolves once nothing is being worked on. */
  readonly stop: () => Promise<void>;
}

/** The longest wait after a shard could not be read: an outage is not made worse by asking. */
const MAX_OUTAGE_WAIT_MS = 10_000;

/** Orders read of a shard at once: more than one worker has slots for, so that workers rarely want the same one. */
const PAGE_SIZE = 48;

/**
 * Polls the shards of the due index in turn and works on what is due, never on more than `concurrency` orders at once.
 * Workers keep out of one another's way by chance alone: each begins its round at a random shard and takes the orders of
 * a page in random order. While nothing is due the round slows down. A wake-up is a shortcut past the index: what it
 * can't take up at once is found there.
 */
export function startDueLoop(options: DueLoopOptions): DueLoop {
  const { ledger, busyPollMs, idlePollMs, wakeAfterMs, wait, logger } = options;
  const stopping = new AbortController();
  const shards = createShards(options);
  const pool = createPool(options, stopping.signal);
  const waking = new Set<string>();
  let quiet = 0;

  async function wake(ref: OrderRef): Promise<void> {
    const name = orderName(ref);
    if (waking.has(name)) return;
    waking.add(name);
    await wait(wakeAfterMs, stopping.signal);
    waking.delete(name);
    if (!pool.takeUpNow(ref)) quiet = 0;
  }

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      let pauseMs: number;
      try {
        const started = await pool.takeUp(await shards.next());
        failures = 0;
        quiet = started === 0 ? quiet + 1 : 0;
        pauseMs = quietPauseMs(quiet, busyPollMs, Math.max(busyPollMs, idlePollMs / DUE_SHARDS));
      } catch (error) {
        failures += 1;
        logger.warn('The due index could not be read', { count: failures }, error);
        pauseMs = Math.min(idlePollMs * 2 ** Math.min(failures, 10), MAX_OUTAGE_WAIT_MS);
      }
      await wait(pauseMs * (1 + ledger.ids.fraction() / 2), stopping.signal);
    }
  }

  const looping = loop();
  return {
    wake: (ref) => {
      void wake(ref);
    },
    stop: async () => {
      stopping.abort();
      await looping;
      await pool.finished();
    },
  };
}

/** One quiet round goes on at the busy pace, three more bring it down to the idle one. */
function quietPauseMs(quiet: number, busyMs: number, idleMs: number): number {
  const slowness = Math.min(1, Math.max(0, quiet - DUE_SHARDS) / (3 * DUE_SHARDS));
  return busyMs + (idleMs - busyMs) * slowness;
}

/** Works on due orders, a bounded number at the same time, and on none twice at once. */
function createPool(
  options: DueLoopOptions,
  stopping: AbortSignal,
): {
  /** Starts what isn't being worked on yet, as slots become free, and says how many that were. */
  readonly takeUp: (orders: readonly DueOrder[]) => Promise<number>;
  /** Starts one order if a slot is free. False where it has to be found in the index. */
  readonly takeUpNow: (ref: OrderRef) => boolean;
  readonly finished: () => Promise<void>;
} {
  const { concurrency, work, logger } = options;
  const running = new Map<string, Promise<void>>();
  const resting = createResting(options);
  let onFreedSlot = (): void => undefined;
  stopping.addEventListener('abort', () => {
    onFreedSlot();
  });

  async function run(ref: OrderRef, name: string, atMs?: number): Promise<void> {
    let moved = false;
    try {
      moved = await work(ref);
    } catch (error) {
      const { tenant } = ref;
      logger.error('A due order could not be worked on', { tenant, orderId: orderNodeId(ref) }, error);
    }
    if (!moved && atMs !== undefined) resting.add(name, atMs);
    running.delete(name);
    onFreedSlot();
  }

  return {
    takeUp: async (orders) => {
      let started = 0;
      for (const order of orders) {
        while (running.size >= concurrency && !stopping.aborted) {
          await new Promise<void>((resolve) => {
            onFreedSlot = resolve;
          });
        }
        // What is left when the worker stops stays due for another one.
        if (stopping.aborted) break;
        const name = orderName(order.ref);
        if (running.has(name) || resting.has(name, order.atMs)) continue;
        started += 1;
        running.set(name, run(order.ref, name, order.atMs));
      }
      return started;
    },
    takeUpNow: (ref) => {
      if (stopping.aborted) return true;
      const name = orderName(ref);
      if (running.has(name) || running.size >= concurrency) return false;
      running.set(name, run(ref, name));
      return true;
    },
    finished: async () => {
      await Promise.all(running.values());
    },
  };
}

/** The shards in turn, each with the place where its next page begins. */
function createShards({ ledger, metrics }: DueLoopOptions): {
  readonly next: () => Promise<readonly DueOrder[]>;
} {
  const pages = new Map<number, DuePage>();
  let shard = Math.floor(ledger.ids.fraction() * DUE_SHARDS) % DUE_SHARDS;
  return {
    next: async () => {
      const current = shard;
      shard = (shard + 1) % DUE_SHARDS;
      // Page after page, so that orders at the head that can't be helped hide none behind them.
      const page = await dueOrders(ledger, current, PAGE_SIZE, pages.get(current)?.next);
      pages.set(current, page);
      const due = [...pages.values()].reduce((sum, { orders }) => sum + orders.length, 0);
      metrics.set('dueOrders', due);
      return shuffled(page.orders, ledger.ids);
    },
  };
}

function shuffled<Value>(values: readonly Value[], { fraction }: Pick<Ids, 'fraction'>): readonly Value[] {
  return values
    .map((value) => ({ value, place: fraction() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}

/** Orders that did not move on when they were taken up lately, each with the due time it was listed under then. */
function createResting({ ledger, restMs }: DueLoopOptions): {
  readonly has: (name: string, atMs: number) => boolean;
  readonly add: (name: string, atMs: number) => void;
} {
  const taken = new Map<string, { readonly atMs: number; readonly untilMs: number }>();
  return {
    has: (name, atMs) => {
      const last = taken.get(name);
      return last?.atMs === atMs && ledger.clock.nowMs() < last.untilMs;
    },
    add: (name, atMs) => {
      const nowMs = ledger.clock.nowMs();
      // In the order of their ends: the first that still counts is where forgetting stops.
      for (const [other, { untilMs }] of taken) {
        if (untilMs > nowMs) break;
        taken.delete(other);
      }
      taken.delete(name);
      taken.set(name, { atMs, untilMs: nowMs + restMs });
    },
  };
}

function orderName({ tenant, accountId, orderId }: OrderRef): string {
  return `${tenant}#${accountId}#${orderId}`;
}
