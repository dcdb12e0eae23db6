import { serve } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { refundOverpayment } from '../../src/fulfilment/refund-overpayment.ts';
import { createRegistry } from '../../src/fulfilment/follow-up.ts';
import { type WorkOrderDeps, workOnOrder } from '../../src/fulfilment/work-order.ts';
import { DUE_SHARDS } from '../../src/ledger/model/orders/due.ts';
import { type DueOrder, dueOrders } from '../../src/ledger/usecases/steps/due-orders.ts';
import type { Ledger } from '../../src/ledger/usecases/runtime/ledger.ts';
import { sweepOrder } from '../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { DEFAULT_STEP_POLICY } from '../../src/ledger/model/orders/steps.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { EVENT_TYPES } from '../../src/provider/stripe/event-mapping.ts';
import { STRIPE_WEBHOOK_PATH, stripeWebhook } from '../../src/webhooks/stripe.ts';
import { type ProviderHarness, makeProviderHarness } from '../integration/provider/support.ts';
import { ownedClock } from './owned-time.ts';

/** A gateway's ledger, webhook and worker on one side, a Stripe whose webhooks go wrong on the other. */
export interface DayWorld extends ProviderHarness {
  /** What became of webhooks: `LOST` on their way those with an effect, else what the gateway made of each that came. */
  readonly webhooks: ReadonlyMap<string, number>;
  /** Loses the answer to the next such request to the provider, after its effect. */
  readonly loseAnswer: (path: string) => Promise<void>;
  readonly answersLost: () => number;
  /** Does what is due now, as a worker would. Gives how many orders were. */
  readonly work: () => Promise<number>;
  /** How many orders are due, now or ever. */
  readonly waiting: () => Promise<number>;
}

const CHAOS = { loss: 0.2, duplicate: 0.2, reorder: 0.2 };
const PAGE = 100;
const FAR_MS = 4_000_000_000_000;

/** @param seed decides what the simulator makes: its ids, and which webhooks are lost, doubled and overtaken */
export async function makeDayWorld(seed: number): Promise<DayWorld> {
  const webhooks = new Map<string, number>();
  const withEffect = new Set<string>();
  const tally = (what: string): void => {
    webhooks.set(what, (webhooks.get(what) ?? 0) + 1);
  };
  const harness = await makeProviderHarness({}, ownedClock(), {
    seed: String(seed),
    chaos: CHAOS,
    // Real time, which the day has little of: what isn't taken after these is left to be healed.
    webhookFirstRetryMs: 20,
    webhookMaxAttempts: 6,
    log: (line) => {
      const [what, id = '', type = ''] = line.split(' ');
      if (what === 'event' && EVENT_TYPES.includes(type)) withEffect.add(id);
      if (line.endsWith('given up: lost') && withEffect.has(id)) tally('LOST');
      if (line.endsWith('given up: out of attempts')) tally('GIVEN UP');
    },
  });
  const { ledger, simulator } = harness;
  const metrics = createMetrics();
  const logger = createLogger({
    level: 'info',
    clock: harness.clock,
    destination: {
      write: (line) => {
        tally(outcomeOf(line));
      },
    },
  });
  const endpoint = serve({
    fetch: stripeWebhook({ ledger, logger, metrics }).fetch,
    port: 0,
    hostname: '127.0.0.1',
  });
  if (!endpoint.listening) await new Promise((resolve) => endpoint.once('listening', resolve));
  // A server that listens on a port has an address of this form.
  const { port } = endpoint.address() as AddressInfo;
  await simulator.setWebhooks({ url: `http://127.0.0.1:${String(port)}${STRIPE_WEBHOOK_PATH}` });
  const deps: WorkOrderDeps = {
    ledger,
    registry: createRegistry(refundOverpayment(ledger.provider)),
    policy: DEFAULT_STEP_POLICY,
    limits: { runTimeoutMs: 30_000, stopping: new AbortController().signal },
    sweep: async (ref) => {
      await sweepOrder(ledger, ref);
    },
    metrics,
    onRunning: () => undefined,
    logger: createLogger({ level: 'silent', clock: harness.clock }),
  };
  let answersLost = 0;
  return {
    ...harness,
    webhooks,
    loseAnswer: async (path) => {
      await simulator.resetNextRequests({ method: 'POST', path, count: 1, when: 'after' });
      answersLost += 1;
    },
    answersLost: () => answersLost,
    work: () => workOnAll(deps),
    waiting: () => countWaiting(ledger),
    stop: async () => {
      await harness.stop();
      await new Promise((resolve) => endpoint.close(resolve));
    },
  };
}

/** What the webhook wrote into its log of an event: the outcome, or the line where there is none. */
function outcomeOf(line: string): string {
  // What the logger writes is an object.
  const { outcome, msg } = JSON.parse(line) as { readonly outcome?: string; readonly msg?: string };
  return outcome ?? msg ?? line;
}

/** One after the other, so that one seed makes one history at the provider. */
async function workOnAll(deps: WorkOrderDeps): Promise<number> {
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => shard);
  const due = (await Promise.all(shards.map((shard) => allDue(deps.ledger, shard)))).flat();
  for (const { ref } of due) await workOnOrder(deps, ref);
  return due.length;
}

async function allDue(ledger: Ledger, shard: number): Promise<readonly DueOrder[]> {
  const due: DueOrder[] = [];
  let page = await dueOrders(ledger, shard, PAGE, undefined);
  for (;;) {
    due.push(...page.orders);
    if (page.next === undefined) return due;
    page = await dueOrders(ledger, shard, PAGE, page.next);
  }
}

async function countWaiting({ store }: Ledger): Promise<number> {
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => String(shard));
  const pages = await Promise.all(
    shards.map((hash) =>
      store.queryIndex({ index: 'due', hash, limit: 10_000, newestFirst: false, untilMs: FAR_MS }),
    ),
  );
  return pages.flat().length;
}
