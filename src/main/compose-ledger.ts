import { setTimeout as delay } from 'node:timers/promises';
import { createMetadataSeal } from '../auth/metadata-seal.ts';
import { createPaymentCodes } from '../auth/payment-code.ts';
import type { Config } from '../config/config.ts';
import { type Registry, createRegistry, followUpsOf } from '../fulfilment/follow-up.ts';
import { DEFAULT_POST_LIMITS, notifyMerchant } from '../fulfilment/notify-merchant.ts';
import { refundOverpayment } from '../fulfilment/refund-overpayment.ts';
import { type WakeUps, createWakeUps } from '../fulfilment/wake-ups.ts';
import type { Clock, SharedClock } from '../ledger/kernel/clock.ts';
import { createDynamoDbClient } from '../ledger/table/dynamodb.ts';
import { type Ids, randomIds } from '../ledger/kernel/ids.ts';
import { readMetadataOf } from '../ledger/usecases/queries/read-order-metadata.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { createStore } from '../ledger/table/store.ts';
import { type TableClock, createTableClock } from '../ledger/table/table-clock.ts';
import { createTransactor } from '../ledger/table/transact.ts';
import { followMigrations, readAlongMigrations } from '../migrations/migrating-table.ts';
import type { Table } from '../migrations/toolkit.ts';
import { POLL_MS, createMigrationView } from '../migrations/view.ts';
import { type Logger, createLogger } from '../observability/logger.ts';
import { type Metrics, createMetrics } from '../observability/metrics.ts';
import { type Bus, createInProcessBus, observedBus } from '../realtime/bus/bus.ts';
import { createRedisBus } from '../realtime/bus/redis-bus.ts';
import { countFor } from '../resolvers/run-operation.ts';
import { measuredProvider } from '../provider/measured-provider.ts';
import type { PaymentProvider } from '../provider/port.ts';
import { createStripeProvider } from '../provider/stripe/stripe-adapter.ts';
import { type Tenants, loadTenants } from '../config/tenants.ts';

/** What a test, or another way to run, puts in the place of an adapter. */
export interface LedgerOverrides {
  /** In the place of the table's time. */
  readonly clock?: SharedClock;
  readonly ids?: Ids;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly tenants?: Tenants;
  readonly provider?: PaymentProvider;
  readonly settings?: Partial<Ledger['settings']>;
  /** For tools that only read: they write nothing at all, and no migration waits for them. */
  readonly readsOnly?: boolean;
}

/** The ledger and what comes with it, for a server or a worker. */
export interface Composition {
  readonly ledger: Ledger;
  readonly registry: Registry;
  /** Hears of the transitions that this process commits: for its worker, if it runs one. */
  readonly wakeUps: WakeUps;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The table's time, for further clients of the table to learn from. */
  readonly tableClock: TableClock;
  /** Frees all resources. Resolves once no migration waits for this process. */
  readonly close: () => Promise<void>;
}

/** How long a call to Stripe may take. A lease is longer, so that nobody takes over a call that still runs. */
const PROVIDER_TIMEOUT_MS = 20_000;
const LEASE_MS = 60_000;

/** How long the content of a request counts as its key, if it has none. */
const CONTENT_KEY_WINDOW_S = 300;

/** Composition root of the ledger: the place where its adapters meet its ports. */
export function composeLedger(config: Config, overrides: LedgerOverrides = {}): Composition {
  const metrics = overrides.metrics ?? createMetrics({ ofProcess: true });
  let onSkew: (skewMs: number) => void = () => undefined;
  const tableClock = createTableClock(undefined, (skewMs) => {
    onSkew(skewMs);
  });
  const { clock = tableClock, ids = randomIds() } = overrides;
  const logger = overrides.logger ?? createLogger({ level: config.logLevel, clock });
  onSkew = skewReporter(tableClock, metrics, logger);
  const tenants = overrides.tenants ?? loadTenants(config.tenantsFile, config);
  const provider = measuredProvider(overrides.provider ?? createProvider(config), { clock, metrics });
  // Production refuses a tenants' file that names this machine; a name that leads to a private address is refused here.
  const limits = { ...DEFAULT_POST_LIMITS, allowPrivateAddresses: !config.production };
  const wakeUps = createWakeUps();
  const { bus, close: closeBus } = createBus(config, logger, metrics);
  const { name: tableName, region, endpoint } = config.table;
  const client = createDynamoDbClient({ region, endpoint, clock: tableClock });
  const executor = { client, tableName, ids, wait: (ms: number): Promise<void> => delay(ms) };
  const table = { store: createStore(executor), transactor: createTransactor(executor) };
  const followed = followedTable(table, clock, ids, overrides.readsOnly ?? false);
  const registry = createRegistry(
    notifyMerchant({
      tenants,
      clock,
      limits,
      readMetadata: (order) => readMetadataOf(followed.table, order),
    }),
    refundOverpayment(provider),
  );
  const ledger: Ledger = {
    ...followed.table,
    clock,
    ids,
    tenants,
    provider,
    paymentCodes: createPaymentCodes(config.paymentCodeSecret),
    metadataSeal: createMetadataSeal(config.metadataSecrets),
    bus: observedBus(bus, (order, transition) => {
      metrics.count('Transition', { cause: transition.cause });
      wakeUps.onCommit(order, transition);
    }),
    followUps: followUpsOf(registry, tenants),
    count: countFor(metrics, 'background'),
    settings: {
      sweepAfterMs: config.sweepAfterMs,
      idempotencyKeyPhase: config.idempotencyKeyPhase,
      contentKeyWindowS: CONTENT_KEY_WINDOW_S,
      leaseMs: LEASE_MS,
      ...overrides.settings,
    },
  };
  const close = async (): Promise<void> => {
    closeBus();
    // In an outage the heartbeat can't be removed; it expires by itself.
    await followed.stop().catch(() => undefined);
    client.destroy();
  };
  return { ledger, registry, wakeUps, logger, metrics, tableClock, close };
}

/** Measures every skew, and says once when the clock becomes wrong or right. */
function skewReporter(clock: TableClock, metrics: Metrics, logger: Logger): (skewMs: number) => void {
  let wasRight = true;
  return (skewMs) => {
    metrics.set('clockSkewSeconds', skewMs / 1000);
    const isRight = clock.isRight();
    if (isRight === wasRight) return;
    wasRight = isRight;
    if (isRight) logger.info("the clock is the table's again");
    else logger.error("the clock is not the table's: nothing is claimed", { skewMs: Math.round(skewMs) });
  };
}

/** The table in the shape that a migration gives it now, and how to leave the processes that migrations count on. */
function followedTable(
  table: Table,
  clock: Clock,
  ids: Ids,
  readsOnly: boolean,
): { readonly table: Table; readonly stop: () => Promise<void> } {
  if (readsOnly) return { table: readAlongMigrations(table.store, clock), stop: () => Promise.resolve() };
  const view = createMigrationView({ ...table, clock, ids, pollMs: POLL_MS });
  return { table: followMigrations(table, view, ids), stop: view.stop };
}

function createProvider({ stripe }: Config): PaymentProvider {
  const { secretKey, webhookSecrets, webhookToleranceS, account, apiBase } = stripe;
  return createStripeProvider({
    secretKey,
    webhookSecrets,
    webhookToleranceS,
    account,
    timeoutMs: PROVIDER_TIMEOUT_MS,
    ...(apiBase === undefined ? {} : { apiBase: new URL(apiBase) }),
  });
}

function createBus(
  { redisUrl }: Config,
  logger: Logger,
  metrics: Metrics,
): { readonly bus: Bus; readonly close: () => void } {
  if (redisUrl === undefined) return { bus: createInProcessBus(), close: () => undefined };
  const bus = createRedisBus({
    url: redisUrl,
    every: (periodMs, run) => {
      const timer = setInterval(run, periodMs);
      timer.unref();
      return () => {
        clearInterval(timer);
      };
    },
    onDropped: () => {
      metrics.count('BusPublishFailed');
    },
    onError: (error) => {
      logger.warn('the event bus lost its connection', {}, error);
    },
  });
  return { bus, close: bus.close };
}
