import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/*
 * Every metric there is, with its labels. Labels take names from fixed lists, never an id: each value is a time series.
 * A counter `IdempotencyReplay` is `hitotsu_idempotency_replay_total` at /metrics.
 */

const COUNTERS = {
  IdempotencyKeyMissing: metric('Mutations without a key, while the phase is optional.', 'operation'),
  IdempotencyReplay: metric('Mutations answered from an earlier request with the same key.', 'operation'),
  IdempotencyKeyReused: metric('Keys that came again with another request.', 'operation'),
  IdempotencyInProgress: metric('Keys that came again while the first request was running.', 'operation'),
  OperationOutcome: metric('Results of mutations by union member.', 'operation', 'outcome'),
  TransactionConflict: metric('Transactions that met another one on the same item, each try.', 'operation'),
  TransactionUnknown: metric(
    'Transactions of which no answer told whether they were committed.',
    'operation',
  ),
  Throttled: metric('Requests refused for want of table capacity.', 'operation'),
  RateLimited: metric('Requests above the rate of their principal.', 'operation'),
  RequestShed: metric('Requests refused because too many of their route were under way.', 'route'),
  ConnectionShed: metric('Connections refused because too many were open.'),
  TokenRefused: metric('Tokens that were no good, by reason.', 'reason'),
  KeySetFetch: metric("Fetches of the identity provider's keys by result.", 'result'),
  Transition: metric('Changes of orders that clients see.', 'cause'),
  WebhookEvent: metric('Events of the provider by outcome.', 'type', 'outcome'),
  WebhookRefused: metric('Webhook posts that were not authentic or not readable.', 'reason'),
  Mismatch: metric('Alert: events of payments that are not what was ordered.'),
  RefundBeyondRefundable: metric('Alert: refunds and disputes beyond what was left to refund.'),
  SurplusPayment: metric('Alert: payments of orders that were paid already.'),
  RecordedPaymentRestored: metric('Alert: items of recorded payments that were lost and written anew.'),
  EventSweep: metric("Looks through all of the provider's events that came since the last one."),
  EventFailed: metric('Alert: events that could not be applied, each try.'),
  InternalError: metric('Alert: requests that ended in an error of ours.'),
  UnreadableEvent: metric('Alert: events that the provider signed and that could not be read.'),
  EventLeftAlone: metric('Events of connected accounts, and of no known mode.', 'reason'),
  ProviderCall: metric('Calls of the provider by result.', 'operation', 'result'),
  StepRun: metric('Runs of follow-up steps by result.', 'step', 'result'),
  SweeperRun: metric('Orders that the sweeper asked the provider about, by result.', 'result'),
  BusPublishFailed: metric('Transitions that subscribers had to fetch from the table.'),
};

const GAUGES = {
  clockSkewSeconds: metric("Alert: seconds that this process's clock is ahead of the table's."),
  dueOrders: metric('Orders that are due and not yet taken up.'),
  runningSteps: metric('Follow-ups that this process is running now.'),
  deadSteps: metric('Alert: follow-ups that ran out of attempts.'),
  subscriptions: metric('Live subscriptions of this process.'),
  sockets: metric('Open WebSockets of this process.'),
};

const HISTOGRAMS = {
  requestDurationS: {
    ...metric('Seconds from a request to its answer.', 'operation'),
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  providerDurationS: {
    ...metric('Seconds that calls of the provider took.', 'operation'),
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  paidToConfirmedS: {
    ...metric('Seconds from PAID to CONFIRMED.'),
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 1800, 3600, 21_600, 86_400],
  },
};

interface Definition {
  readonly help: string;
  readonly labels: readonly string[];
}

function metric<const Names extends readonly string[]>(help: string, ...labels: Names) {
  return { help, labels };
}

export type CounterName = keyof typeof COUNTERS;
export type GaugeName = keyof typeof GAUGES;
export type HistogramName = keyof typeof HISTOGRAMS;

/** The labels of a metric, as a last argument that is there exactly if it has some. */
type Labels<Of extends Definition> = Of['labels'] extends readonly []
  ? []
  : [labels: Readonly<Record<Of['labels'][number], string>>];

/** What happens here, counted. Fails open: nothing of it throws, and a wrong value is dropped. */
export interface Metrics {
  readonly count: <Name extends CounterName>(name: Name, ...labels: Labels<(typeof COUNTERS)[Name]>) => void;
  readonly set: (name: GaugeName, value: number) => void;
  readonly observe: <Name extends HistogramName>(
    name: Name,
    value: number,
    ...labels: Labels<(typeof HISTOGRAMS)[Name]>
  ) => void;
  /** All of it in Prometheus' text form, for /metrics. */
  readonly render: () => Promise<RenderedMetrics>;
}

export interface RenderedMetrics {
  readonly contentType: string;
  readonly body: string;
}

/** Metrics with a registry of their own; `ofProcess` adds memory, CPU and event loop lag. */
export function createMetrics({ ofProcess = false }: { readonly ofProcess?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (ofProcess) collectDefaultMetrics({ register: registry });
  const shared = (name: string, { help, labels }: Definition) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });
  const counters = mapValues(COUNTERS, (name, one) => new Counter(shared(`${metricName(name)}_total`, one)));
  const gauges = mapValues(GAUGES, (name, one) => new Gauge(shared(metricName(name), one)));
  const histograms = mapValues(
    HISTOGRAMS,
    (name, one) => new Histogram({ ...shared(secondsName(name), one), buckets: [...one.buckets] }),
  );
  return {
    count: (name, ...[labels]) => {
      failOpen(() => {
        counters[name].inc({ ...labels });
      });
    },
    set: (name, value) => {
      failOpen(() => {
        gauges[name].set(value);
      });
    },
    observe: (name, value, ...[labels]) => {
      failOpen(() => {
        histograms[name].observe({ ...labels }, value);
      });
    },
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

function failOpen(record: () => void): void {
  try {
    record();
  } catch {
    // A payment isn't refused because it could not be counted.
  }
}

/** `IdempotencyReplay` → `hitotsu_idempotency_replay`. */
function metricName(name: string): string {
  return `hitotsu${name.replace(/[A-Z]|^[a-z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
}

/** `requestDurationS` → `hitotsu_request_duration_seconds`. */
function secondsName(name: string): string {
  return metricName(name.replace(/S$/, 'Seconds'));
}

function mapValues<Name extends string, Value, Result>(
  values: Readonly<Record<Name, Value>>,
  map: (name: Name, value: Value) => Result,
): Readonly<Record<Name, Result>> {
  // The keys of the one are the keys of the other; Object.entries and fromEntries forget it.
  const entries = Object.entries(values) as [Name, Value][];
  return Object.fromEntries(entries.map(([name, value]) => [name, map(name, value)])) as Record<Name, Result>;
}
