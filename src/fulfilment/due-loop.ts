import type { Ids } from '../ledger/kernel/ids.ts';
import type { OrderRef } from '../ledger/kernel/keys.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import { type DueOrder, type DuePage, dueOrders } from '../ledger/usecases/steps/due-orders.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { DUE_SHARDS } from '../ledger/model/orders/due.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface DueLoopSettings {
  /** Orders worked on at the same time. */
  readonly concurrency: number;
  /** The pause after a shard that had something to do. */
  readonly busyPollMs: number;
  /** The longest time for a whole round over all shards while there is nothing to do. */
  readonly idlePollMs: number;
  /** How long to wait after a wake-up: the answer to the client who made the order due goes out first. */
  readonly wakeAfterMs: number;
  /** How long to leave an order alone that did not move on while the index lists it unchanged: the index may be behind. */
  readonly restMs: number;
}

export interface DueLoopOptions extends DueLoopSettings {
  readonly ledger: Ledger;
  /** Does what a due order needs. Resolves to whether it moved on. */
  readonly work: (ref: OrderRef) => Promise<boolean>;
  /** Waits, or returns early when the signal aborts. Never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
}

export interface DueLoop {
  /** Starts an order that may have become due just now, without waiting for its turn in the index. */
  readonly wake: (ref: OrderRef) => void;
  /** Starts nothing more, and resolves once nothing is being worked on. */
  readonly stop: () => Promise<void>;
}

/** The longest wait after a shard could not be read: more requests would make an outage worse. */
const MAX_OUTAGE_WAIT_MS = 10_000;

/** Orders read of a shard at once: more than one worker has slots for, so that workers rarely want the same one. */
const PAGE_SIZE = 48;

/**
 * Polls the shards of the due index in turn and works on what is due, on at most `concurrency` orders at once. Workers avoid each
 * other only by chance: each begins at a random shard and takes the orders of a page in random order. While nothing is due the
 * round slows down. A wake-up is a shortcut past the index; if it can't start its order, the index still lists it.
 */
export function startDueLoop(options: DueLoopOptions): DueLoop {
  const { ledger, busyPollMs, idlePollMs, wakeAfterMs, wait, logger } = options;
  const stopping = new AbortController();
  const shards = createShards(options);
  const pool = createPool(options, stopping.signal);
  const waking = new Set<string>();
  /** Polls in a row that started nothing. */
  let quietPolls = 0;

  async function wake(ref: OrderRef): Promise<void> {
    const name = orderName(ref);
    if (waking.has(name)) return;
    waking.add(name);
    await wait(wakeAfterMs, stopping.signal);
    waking.delete(name);
    if (!pool.startNow(ref)) quietPolls = 0;
  }

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      let pauseMs: number;
      try {
        const started = await pool.startAll(await shards.next());
        failures = 0;
        quietPolls = started === 0 ? quietPolls + 1 : 0;
        pauseMs = quietPauseMs(quietPolls, busyPollMs, Math.max(busyPollMs, idlePollMs / DUE_SHARDS));
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
    wake: (ref) => void wake(ref),
    stop: async () => {
      stopping.abort();
      await looping;
      await pool.finished();
    },
  };
}

/** The first quiet round keeps the busy pace, the next three slow down to the idle one. */
function quietPauseMs(quietPolls: number, busyMs: number, idleMs: number): number {
  const slowness = Math.min(1, Math.max(0, quietPolls - DUE_SHARDS) / (3 * DUE_SHARDS));
  return busyMs + (idleMs - busyMs) * slowness;
}

/** Works on due orders, a bounded number at the same time, and on none twice at once. */
function createPool(options: DueLoopOptions, stopping: AbortSignal) {
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
    /** Starts the orders that aren't being worked on, as slots become free. Resolves to how many it started. */
    startAll: async (orders: readonly DueOrder[]): Promise<number> => {
      let started = 0;
      for (const { ref, atMs } of orders) {
        while (running.size >= concurrency && !stopping.aborted)
          await new Promise<void>((resolve) => (onFreedSlot = resolve));
        // The rest stays due for another worker.
        if (stopping.aborted) break;
        const name = orderName(ref);
        if (running.has(name) || resting.has(name, atMs)) continue;
        started += 1;
        running.set(name, run(ref, name, atMs));
      }
      return started;
    },
    /** Starts one order if a slot is free. Returns false if the index has to find it. */
    startNow: (ref: OrderRef): boolean => {
      if (stopping.aborted) return true;
      const name = orderName(ref);
      if (running.has(name) || running.size >= concurrency) return false;
      running.set(name, run(ref, name));
      return true;
    },
    finished: () => Promise.all(running.values()),
  };
}

/** The shards in turn, each with the position of its next page. */
function createShards({ ledger, metrics }: DueLoopOptions) {
  const pages = new Map<number, DuePage>();
  let shard = Math.floor(ledger.ids.fraction() * DUE_SHARDS) % DUE_SHARDS;
  return {
    next: async (): Promise<readonly DueOrder[]> => {
      const current = shard;
      shard = (shard + 1) % DUE_SHARDS;
      // Page after page, so that orders that can't move on at the head don't hide the others.
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

/** Orders that lately did not move on, each with the due time that the index listed then. */
function createResting({ ledger, restMs }: DueLoopOptions) {
  const resting = new Map<string, { readonly atMs: number; readonly untilMs: number }>();
  return {
    has: (name: string, atMs: number): boolean => {
      const last = resting.get(name);
      return last?.atMs === atMs && ledger.clock.nowMs() < last.untilMs;
    },
    add: (name: string, atMs: number): void => {
      const nowMs = ledger.clock.nowMs();
      // Sorted by their ends: the first one that still counts ends the clean-up.
      for (const [other, { untilMs }] of resting) {
        if (untilMs > nowMs) break;
        resting.delete(other);
      }
      resting.delete(name);
      resting.set(name, { atMs, untilMs: nowMs + restMs });
    },
  };
}

function orderName({ tenant, accountId, orderId }: OrderRef): string {
  return `${tenant}#${accountId}#${orderId}`;
}
