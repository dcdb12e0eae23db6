import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/*
 * Every metric there is, with its labels. Labels take names from fixed lists, never an id: each value is a time series.
 * A counter `IdempotencyReplay` is `hitotsu_idempotency_replay_total` at /metrics.
 */

const COUNTERS = {
  IdempotencyKeyMissing: {
    help: 'Mutations without a key, while the phase is optional.',
    labels: ['operation'],
  },
  IdempotencyReplay: {
    help: 'Mutations answered from an earlier request with the same key.',
    labels: ['operation'],
  },
  IdempotencyKeyReused: { help: 'Keys that came again with another request.', labels: ['operation'] },
  IdempotencyInProgress: {
    help: 'Keys that came again while the first request was running.',
    labels: ['operation'],
  },
  OperationOutcome: { help: 'Results of mutations by union member.', labels: ['operation', 'outcome'] },
  TransactionConflict: {
    help: 'Transactions that met another one on the same item, each try.',
    labels: ['operation'],
  },
  TransactionUnknown: {
    help: 'Transactions of which no answer told whether they were committed.',
    labels: ['operation'],
  },
  Throttled: { help: 'Requests refused for want of table capacity.', labels: ['operation'] },
  RateLimited: { help: 'Requests above the rate of their principal.', labels: ['operation'] },
  TokenRefused: { help: 'Tokens that were no good, by reason.', labels: ['reason'] },
  Transition: { help: 'Changes of orders that clients see.', labels: ['cause'] },
  WebhookEvent: { help: 'Events of the provider by outcome.', labels: ['type', 'outcome'] },
  WebhookRefused: { help: 'Webhook posts that were not authentic or not readable.', labels: ['reason'] },
  Mismatch: { help: 'Alert: events of payments that are not what was ordered.', labels: [] },
  RefundBeyondRefundable: { help: 'Alert: refunds and disputes beyond what was left to refund.', labels: [] },
  SurplusPayment: { help: 'Alert: payments of orders that were paid already.', labels: [] },
  ProviderCall: { help: 'Calls of the provider by result.', labels: ['operation', 'result'] },
  StepRun: { help: 'Runs of follow-up steps by result.', labels: ['step', 'result'] },
  SweeperRun: { help: 'Orders that the sweeper asked the provider about, by result.', labels: ['result'] },
  BusPublishFailed: { help: 'Transitions that subscribers had to fetch from the table.', labels: [] },
} as const satisfies Definitions;

const GAUGES = {
  dueOrders: { help: 'Orders that are due and not yet taken up.', labels: [] },
  runningSteps: { help: 'Follow-ups that this process is running now.', labels: [] },
  deadSteps: { help: 'Alert: follow-ups that ran out of attempts.', labels: [] },
  subscriptions: { help: 'Live subscriptions of this process.', labels: [] },
  sockets: { help: 'Open WebSockets of this process.', labels: [] },
} as const satisfies Definitions;

const HISTOGRAMS = {
  requestDurationS: {
    help: 'Seconds from a request to its answer.',
    labels: ['operation'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  providerDurationS: {
    help: 'Seconds that calls of the provider took.',
    labels: ['operation'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  paidToConfirmedS: {
    help: 'Seconds from PAID to CONFIRMED.',
    labels: [],
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 1800, 3600, 21_600, 86_400],
  },
} as const satisfies Readonly<Record<string, Definition & { readonly buckets: readonly number[] }>>;

interface Definition {
  readonly help: string;
  readonly labels: readonly string[];
}

type Definitions = Readonly<Record<string, Definition>>;

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
    // A count less is no reason to refuse a payment.
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
