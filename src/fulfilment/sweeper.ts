import type { SweeperConfig } from '../config/config.ts';
import type { OrderRef } from '../ledger/kernel/keys.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { sweepEvents } from '../ledger/usecases/provider-updates/sweep-events.ts';
import { sweepOrder } from '../ledger/usecases/provider-calls/sweep-order.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { aboutEvent, typeLabel } from '../webhooks/about-event.ts';
import { pacedProvider } from './paced-provider.ts';

export interface SweeperOptions extends SweeperConfig {
  /** Waits, or returns early when the signal aborts. Never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly metrics: Pick<Metrics, 'count'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

export interface Sweeper {
  /** Asks the provider about a due order; the worker calls it. Throws for bugs and in an outage of the table. */
  readonly sweep: (ref: OrderRef) => Promise<void>;
  /** Stops listing events; resolves once nothing runs. Calling it again is harmless. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts what heals lost webhooks (docs/DESIGN.md §8). The due-loop passes waiting orders to `sweep`, and the provider's events
 * are listed periodically. One cap on calls of the provider holds for both.
 */
export function startSweeper(ledger: Ledger, options: SweeperOptions): Sweeper {
  const { callsPerSecond, eventsEveryMs, wait, metrics, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pace = { callsPerSecond, clock: ledger.clock, wait: (ms: number) => wait(ms, signal) };
  const paced: Ledger = { ...ledger, provider: pacedProvider(ledger.provider, pace) };

  async function healFromEvents(): Promise<void> {
    const found = await sweepEvents(paced, { pauseMs: eventsEveryMs, signal });
    if (found === undefined) return;
    if (found.applied > 0) logger.info('Events without a webhook were applied', { count: found.applied });
    if (found.left > 0) logger.warn('Events are left to be applied', { count: found.left });
    for (const { event, tenant } of found.giveUp) {
      metrics.count('WebhookEvent', { type: typeLabel(event), outcome: 'FAILED' });
      metrics.count('EventFailed');
      const about = { ...aboutEvent(event), tenant };
      logger.warn('An event is given up: replayWebhookEvent applies it', about);
    }
    if (found.complete) metrics.count('EventSweep');
    else logger.warn("The provider's events could not be listed to the end");
  }

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      await healFromEvents().catch((error: unknown) => {
        logger.warn("The provider's events could not be looked through", {}, error);
      });
      await wait(eventsEveryMs * (1 + ledger.ids.fraction() / 10), signal);
    }
  }

  const looping = loop();
  return {
    sweep: async (ref) => {
      metrics.count('SweeperRun', { result: await sweepOrder(paced, ref) });
    },
    stop: async () => {
      stopping.abort();
      await looping;
    },
  };
}
