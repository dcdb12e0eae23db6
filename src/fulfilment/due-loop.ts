import { DUE_SHARDS } from '../ledger/due.ts';
import type { Ids } from '../ledger/ids.ts';
import type { OrderRef } from '../ledger/keys.ts';
import { type DueOrder, type DuePage, dueOrders } from '../ledger/operations/due-orders.ts';
import type { Ledger } from '../ledger/operations/ledger.ts';
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
  /** How long an order that did not move on is left alone while it is listed as before: the index may be behind. */
  readonly restMs: number;
  /** Waits, or returns early when the signal aborts. Never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
}

export interface DueLoop {
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
 * a page in random order. While nothing is due the round slows down.
 */
export function startDueLoop(options: DueLoopOptions): DueLoop {
  const { ledger, concurrency, wait, logger } = options;
  const stopping = new AbortController();
  const shards = createShards(options);
  const running = new Map<string, Promise<void>>();
  const resting = createResting(options);
  let onFreedSlot = (): void => undefined;

  function start({ ref, atMs }: DueOrder): void {
    const name = orderName(ref);
    if (running.has(name) || resting.has(name, atMs)) return;
    const task = options
      .work(ref)
      .catch((error: unknown) => {
        logger.error(
          'A due order could not be worked on',
          { tenant: ref.tenant, orderId: ref.orderId },
          error,
        );
        return false;
      })
      .then((moved) => {
        if (!moved) resting.add(name, atMs);
        running.delete(name);
        onFreedSlot();
      });
    running.set(name, task);
  }

  /** Starts what was found as slots become free. What is left when the worker stops stays due for another one. */
  async function startAll(orders: readonly DueOrder[]): Promise<void> {
    for (const order of orders) {
      while (running.size >= concurrency && !stopping.signal.aborted) {
        await new Promise<void>((resolve) => {
          onFreedSlot = resolve;
        });
      }
      if (stopping.signal.aborted) return;
      start(order);
    }
  }

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      let pauseMs: number;
      try {
        await startAll(await shards.next());
        failures = 0;
        pauseMs = shards.pauseMs();
      } catch (error) {
        failures += 1;
        logger.warn('The due index could not be read', { count: failures }, error);
        pauseMs = Math.min(options.idlePollMs * 2 ** Math.min(failures, 10), MAX_OUTAGE_WAIT_MS);
      }
      await wait(pauseMs * (1 + ledger.ids.fraction() / 2), stopping.signal);
    }
  }

  const looping = loop();
  return {
    stop: async () => {
      stopping.abort();
      onFreedSlot();
      await looping;
      await Promise.all(running.values());
    },
  };
}

/** The shards in turn, each with the place where its next page begins. */
function createShards({ ledger, busyPollMs, idlePollMs, metrics }: DueLoopOptions): {
  readonly next: () => Promise<readonly DueOrder[]>;
  readonly pauseMs: () => number;
} {
  const pages = new Map<number, DuePage>();
  let shard = Math.floor(ledger.ids.fraction() * DUE_SHARDS) % DUE_SHARDS;
  let quiet = 0;
  return {
    next: async () => {
      const current = shard;
      shard = (shard + 1) % DUE_SHARDS;
      // Page after page, so that orders at the head that can't be helped hide none behind them.
      const page = await dueOrders(ledger, current, PAGE_SIZE, pages.get(current)?.next);
      pages.set(current, page);
      quiet = page.orders.length === 0 ? Math.min(quiet + 1, 4 * DUE_SHARDS) : 0;
      metrics.set(
        'dueOrders',
        [...pages.values()].reduce((sum, { orders }) => sum + orders.length, 0),
      );
      return shuffled(page.orders, ledger.ids);
    },
    // One quiet round goes on at the busy pace, four bring it down to the idle one.
    pauseMs: () => {
      const idleMs = Math.max(idlePollMs / DUE_SHARDS, busyPollMs);
      const slowness = Math.max(0, quiet - DUE_SHARDS) / (3 * DUE_SHARDS);
      return busyPollMs + (idleMs - busyPollMs) * slowness;
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
