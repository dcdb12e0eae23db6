import type { SweeperConfig } from '../config/config.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Registry } from './registry.ts';
import { startSweeper } from './sweeper.ts';
import { type WorkerSettings, startWorker } from './worker.ts';
import { waitMs } from './wait.ts';
import type { WakeUps } from './wake-ups.ts';

export interface BackgroundOptions {
  readonly metrics: Pick<Metrics, 'count' | 'set' | 'observe'>;
  readonly logger: Logger;
  readonly sweeper: SweeperConfig;
  readonly wakeUps: WakeUps;
  readonly settings?: Partial<WorkerSettings>;
}

/** What goes on without a request: follow-ups, and healing from what the provider knows. */
export interface Background {
  /** Takes up nothing more; resolves once nothing runs. Calling it again is harmless. */
  readonly stop: () => Promise<void>;
}

/** Starts the due-loop and the sweeper that it hands waiting orders to: in the server, or in a process of their own. */
export function startBackground(
  ledger: Ledger,
  registry: Registry,
  { metrics, logger, sweeper: sweeping, wakeUps, settings = {} }: BackgroundOptions,
): Background {
  const sweeper = startSweeper(ledger, { ...sweeping, wait: waitMs, metrics, logger });
  const worker = startWorker(ledger, registry, { sweep: sweeper.sweep, wakeUps, metrics, logger, settings });
  return {
    stop: async () => {
      await Promise.all([worker.stop(), sweeper.stop()]);
    },
  };
}
