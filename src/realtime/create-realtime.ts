import { orderNodeId } from '../ledger/items/node-ids.ts';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import type { OrderRef } from '../ledger/kernel/keys.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Bus } from './bus/bus.ts';
import { createLiveSources } from './live-sources.ts';
import { createOrderFeeds } from './order-feeds.ts';
import type { Realtime } from './sources.ts';
import type { Timers } from './timers.ts';

export interface RealtimeOptions {
  readonly bus: Bus;
  /** A consistent read, whoever asks: access is judged on what it gives. */
  readonly readOrder: (ref: OrderRef) => Promise<Order | undefined>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'fraction'>;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'count' | 'set'>;
  readonly settings?: Partial<RealtimeSettings>;
}

export interface RealtimeSettings {
  readonly maxSubscriptionsPerPrincipal: number;
  /** How often a watched order is read though nothing was heard of it, on average. */
  readonly rereadMs: number;
  /** How many notices a slow subscriber of a live feed may fall behind. */
  readonly maxBacklog: number;
}

const DEFAULTS: RealtimeSettings = {
  maxSubscriptionsPerPrincipal: 200,
  rereadMs: 20_000,
  maxBacklog: 1_000,
};

/** Puts the sources of subscriptions together. One for the process: its limits and gauges count what the process serves. */
export function createRealtime(options: RealtimeOptions): Realtime {
  const { bus, readOrder, clock, ids, timers, logger, metrics } = options;
  const settings = { ...DEFAULTS, ...options.settings };
  return {
    bus,
    readOrder,
    maxBacklog: settings.maxBacklog,
    sources: createLiveSources({
      clock,
      timers,
      maxPerPrincipal: settings.maxSubscriptionsPerPrincipal,
      onCount: (count) => {
        metrics.set('subscriptions', count);
      },
    }),
    orders: createOrderFeeds({
      bus,
      readOrder,
      ids,
      timers,
      rereadMs: settings.rereadMs,
      onHealed: () => {
        metrics.count('BusPublishFailed');
      },
      onReadFailure: (ref, error) => {
        const about = { tenant: ref.tenant, orderId: orderNodeId(ref) };
        logger.warn('A watched order could not be read; it will be tried again', about, error);
      },
    }),
  };
}
