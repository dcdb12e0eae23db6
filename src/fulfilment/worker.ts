import type { OrderRef } from '../ledger/kernel/keys.ts';
import { countDeadOrders } from '../ledger/usecases/steps/count-dead-orders.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { DEFAULT_STEP_POLICY, type StepPolicy } from '../ledger/model/orders/steps.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { startDueLoop } from './due-loop.ts';
import type { Registry } from './registry.ts';
import { waitMs } from './wait.ts';
import type { WakeUps } from './wake-ups.ts';
import { workOnOrder } from './work-order.ts';

export interface WorkerOptions {
  /** Asks the provider about an order that waits for its word, or takes over a claim whose lease has passed. */
  readonly sweep: (ref: OrderRef) => Promise<void>;
  readonly metrics: Pick<Metrics, 'count' | 'set' | 'observe'>;
  readonly logger: Logger;
  readonly settings?: Partial<WorkerSettings>;
  /** Tells of orders that this process has made due. Without it they are found in the index alone. */
  readonly wakeUps?: Pick<WakeUps, 'onWake'>;
  /** Waits, or returns early when the signal aborts; never rejects. An argument so that tests own time. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface WorkerSettings {
  readonly policy: StepPolicy;
  /** How long one run may take; well below the lease. */
  readonly runTimeoutMs: number;
  /** Orders worked on at the same time. */
  readonly concurrency: number;
  readonly busyPollMs: number;
  readonly idlePollMs: number;
  readonly wakeAfterMs: number;
  readonly restMs: number;
  /** How long a stopping worker waits for running steps before it breaks them off and gives them back. */
  readonly drainMs: number;
  /** How often the dead letters are counted. */
  readonly deadLetterCountMs: number;
}

export const DEFAULT_WORKER_SETTINGS: WorkerSettings = {
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
  /** Takes up nothing more; finishes what runs, or gives it back after `drainMs`. Calling it again is harmless. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts the due-loop (docs/DESIGN.md §10): follow-ups, confirmations, and the sweeper's orders. Any number of workers
 * may run on one table; every step is held under a lease while it runs, so no two run it at the same time.
 */
export function startWorker(ledger: Ledger, registry: Registry, options: WorkerOptions): Worker {
  const settings: WorkerSettings = { ...DEFAULT_WORKER_SETTINGS, ...options.settings };
  if (settings.runTimeoutMs >= settings.policy.leaseMs)
    throw new RangeError('a run must end before its lease');
  const { sweep, metrics, logger, wait = waitMs } = options;
  const abort = new AbortController();
  const deadLetterCount = new AbortController();
  const { policy, runTimeoutMs } = settings;
  const limits = { runTimeoutMs, stopping: abort.signal };
  let running = 0;
  const onRunning = (change: 1 | -1): void => {
    running += change;
    metrics.set('runningSteps', running);
  };
  const deps = { ledger, registry, policy, limits, sweep, metrics, logger, onRunning };
  const loop = startDueLoop({
    ...settings,
    ledger,
    metrics,
    logger,
    wait,
    work: (ref) => workOnOrder(deps, ref),
  });
  const unsubscribe = options.wakeUps?.onWake(loop.wake);
  const counting = countDeadLetters(ledger, settings, {
    metrics,
    logger,
    wait,
    signal: deadLetterCount.signal,
  });
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    unsubscribe?.();
    deadLetterCount.abort();
    const timer = setTimeout(() => {
      abort.abort(new Error('the worker stops'));
    }, settings.drainMs);
    await Promise.all([loop.stop(), counting]);
    clearTimeout(timer);
  };
  return { stop: () => (stopped ??= stop()) };
}

async function countDeadLetters(
  ledger: Ledger,
  { deadLetterCountMs }: WorkerSettings,
  {
    metrics,
    logger,
    wait,
    signal,
  }: {
    readonly metrics: Pick<Metrics, 'set'>;
    readonly logger: Pick<Logger, 'warn'>;
    readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  while (!signal.aborted) {
    try {
      metrics.set('deadSteps', await countDeadOrders(ledger));
    } catch (error) {
      logger.warn('The dead letters could not be counted', {}, error);
    }
    await wait(deadLetterCountMs, signal);
  }
}
