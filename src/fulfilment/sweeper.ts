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
  /** Asks the provider about a due order: what the worker calls. Throws for bugs and in an outage of the table. */
  readonly sweep: (ref: OrderRef) => Promise<void>;
  /** Ends looking through events; resolves once nothing is being looked at. Again is the same as once. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts what heals lost webhooks (docs/DESIGN.md §8): orders that wait are handed to `sweep` by the due-loop, and the
 * provider's events are looked through again and again. All of it shares one cap on calls of the provider.
 */
export function startSweeper(ledger: Ledger, options: SweeperOptions): Sweeper {
  const { callsPerSecond, eventsEveryMs, wait, metrics, logger } = options;
  const stopping = new AbortController();
  const provider = pacedProvider(ledger.provider, {
    callsPerSecond,
    clock: ledger.clock,
    wait: (ms) => wait(ms, stopping.signal),
  });
  const paced: Ledger = { ...ledger, provider };

  async function lookThroughEvents(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const found = await sweepEvents(paced, { pauseMs: eventsEveryMs, signal: stopping.signal });
        if (found !== undefined && found.applied > 0)
          logger.info('Events without a webhook were applied', { count: found.applied });
        if (found !== undefined && found.left > 0)
          logger.warn('Events are left to be applied', { count: found.left });
        for (const { event, tenant } of found?.giveUp ?? []) {
          metrics.count('WebhookEvent', { type: typeLabel(event), outcome: 'FAILED' });
          logger.warn('An event is given up: replayWebhookEvent applies it', {
            ...aboutEvent(event),
            tenant,
          });
        }
        if (found?.complete === false) logger.warn("The provider's events could not be listed to the end");
      } catch (error) {
        logger.warn("The provider's events could not be looked through", {}, error);
      }
      await wait(eventsEveryMs * (1 + ledger.ids.fraction() / 10), stopping.signal);
    }
  }

  const looking = lookThroughEvents();
  return {
    sweep: async (ref) => {
      const result = await sweepOrder(paced, ref);
      metrics.count('SweeperRun', { result });
    },
    stop: async () => {
      stopping.abort();
      await looking;
    },
  };
}
