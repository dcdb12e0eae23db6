import { setTimeout as delay } from 'node:timers/promises';
import type { SweeperConfig } from '../config/config.ts';
import type { OrderRef } from '../ledger/kernel/keys.ts';
import { countDeadOrders } from '../ledger/usecases/steps/count-dead-orders.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { DEFAULT_STEP_POLICY, type StepPolicy } from '../ledger/model/orders/steps.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type DueLoopSettings, startDueLoop } from './due-loop.ts';
import type { Registry } from './follow-up.ts';
import { startSweeper } from './sweeper.ts';
import type { WakeUps } from './wake-ups.ts';
import { workOnOrder } from './work-order.ts';

export interface WorkerOptions {
  /** Asks the provider about an order that waits for it, or takes over one whose lease has expired. */
  readonly sweep: (ref: OrderRef) => Promise<void>;
  readonly metrics: Pick<Metrics, 'count' | 'set' | 'observe'>;
  readonly logger: Logger;
  readonly settings?: Partial<WorkerSettings>;
  /** Announces orders that this process has made due. Without it only the index finds them. */
  readonly wakeUps?: Pick<WakeUps, 'onWake'>;
  /** Waits, or returns early when the signal aborts. Never rejects. An argument so that tests control time. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface WorkerSettings extends DueLoopSettings {
  readonly policy: StepPolicy;
  /** How long one run may take; well below the lease. */
  readonly runTimeoutMs: number;
  /** How long a stopping worker waits for running steps before it aborts and releases them. */
  readonly drainMs: number;
  /** How often the dead letters are counted. */
  readonly deadLetterCountMs: number;
}

const DEFAULT_WORKER_SETTINGS: WorkerSettings = {
  policy: DEFAULT_STEP_POLICY,
  runTimeoutMs: 30_000,
  concurrency: 16,
  busyPollMs: 25,
  idlePollMs: 2_000,
  wakeAfterMs: 50,
  restMs: 5_000,
  drainMs: 10_000,
  deadLetterCountMs: 60_000,
};

export interface Worker {
  /** Starts nothing more. Finishes what runs, or releases it after `drainMs`. Calling it again is harmless. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts the due-loop (docs/DESIGN.md §10): follow-ups, confirmations, and the sweeper's orders. Any number of workers
 * may run on one table: a lease on every running step keeps two from running it at the same time.
 */
export function startWorker(ledger: Ledger, registry: Registry, options: WorkerOptions): Worker {
  const settings: WorkerSettings = { ...DEFAULT_WORKER_SETTINGS, ...options.settings };
  const { policy, runTimeoutMs, drainMs, deadLetterCountMs } = settings;
  if (runTimeoutMs >= policy.leaseMs) throw new RangeError('a run must end before its lease');
  const { sweep, metrics, logger, wait = waitMs } = options;
  const abort = new AbortController();
  const stopping = new AbortController();
  const limits = { runTimeoutMs, stopping: abort.signal };
  let running = 0;
  const onRunning = (change: 1 | -1): void => {
    running += change;
    metrics.set('runningSteps', running);
  };
  const deps = { ledger, registry, policy, limits, sweep, metrics, logger, onRunning };
  const work = (ref: OrderRef): Promise<boolean> => workOnOrder(deps, ref);
  const loop = startDueLoop({ ...settings, ledger, metrics, logger, wait, work });
  const unsubscribe = options.wakeUps?.onWake(loop.wake);

  async function countDeadLetters(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        metrics.set('deadSteps', await countDeadOrders(ledger));
      } catch (error) {
        logger.warn('The dead letters could not be counted', {}, error);
      }
      await wait(deadLetterCountMs, stopping.signal);
    }
  }

  const counting = countDeadLetters();
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    unsubscribe?.();
    stopping.abort();
    const timer = setTimeout(() => {
      abort.abort(new Error('the worker stops'));
    }, drainMs);
    await Promise.all([loop.stop(), counting]);
    clearTimeout(timer);
  };
  return { stop: () => (stopped ??= stop()) };
}

export interface BackgroundOptions extends Omit<WorkerOptions, 'sweep' | 'wait'> {
  readonly sweeper: SweeperConfig;
}

/** Starts all that runs without a request, in the server or in a process of its own: the worker, and the sweeper that it uses. */
export function startBackground(ledger: Ledger, registry: Registry, options: BackgroundOptions): Worker {
  const sweeper = startSweeper(ledger, { ...options, ...options.sweeper, wait: waitMs });
  const worker = startWorker(ledger, registry, { ...options, sweep: sweeper.sweep });
  return {
    stop: async () => {
      await Promise.all([worker.stop(), sweeper.stop()]);
    },
  };
}

async function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
