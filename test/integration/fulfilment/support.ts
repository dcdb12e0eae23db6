import { inject, vi } from 'vitest';
import {
  type FollowUp,
  type Registry,
  type StepContext,
  type StepResult,
  createRegistry,
  followUpsOf,
} from '../../../src/fulfilment/follow-up.ts';
import {
  type Worker,
  type WorkerOptions,
  type WorkerSettings,
  startWorker,
} from '../../../src/fulfilment/worker.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import type { OrderRef } from '../../../src/ledger/kernel/keys.ts';
import { type Ledger, commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { putOrder } from '../../../src/ledger/items/order-writes.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { payOrder } from '../../../src/ledger/model/orders/payments.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { type Metrics, createMetrics } from '../../../src/observability/metrics.ts';
import { type Harness, type HarnessOptions, TEST_TENANTS, makeHarness } from '../../support/harness.ts';
import { openedOrder } from '../../support/sample-orders.ts';

export interface FulfilmentHarness extends Harness {
  readonly registry: Registry;
  readonly metrics: Metrics;
  /** Starts a worker that polls without pause; it is stopped with the harness. */
  readonly startWorker: (
    settings?: Partial<WorkerSettings>,
    ledger?: Ledger,
    sweep?: WorkerOptions['sweep'],
    wait?: WorkerOptions['wait'],
  ) => Worker;
  readonly stop: () => Promise<void>;
}

/** A follow-up of every paid order, named `probe` unless told otherwise, that does what the test says. */
export function followUp(
  run: (context: StepContext) => Promise<StepResult> | StepResult,
  name = 'probe',
): FollowUp {
  return {
    name,
    appliesTo: ({ kind }) => kind === 'paid',
    run: async (context) => await run(context),
  };
}

export const DONE: StepResult = { kind: 'DONE' };

/** A ledger whose orders get the given follow-ups, on a table of its own, and workers on it. */
export async function makeFulfilment(
  followUps: readonly FollowUp[],
  options: Partial<HarnessOptions> & { readonly logged?: string[] } = {},
): Promise<FulfilmentHarness> {
  const registry = createRegistry(...followUps);
  const harness = await makeHarness({
    endpoint: inject('engineEndpoint'),
    ...options,
    overrides: { followUps: followUpsOf(registry, options.tenants ?? TEST_TENANTS), ...options.overrides },
  });
  const metrics = createMetrics();
  const workers: Worker[] = [];
  return {
    ...harness,
    registry,
    metrics,
    startWorker: (settings = {}, ledger = harness.ledger, sweep = () => Promise.resolve(), wait) => {
      const worker = startWorker(ledger, registry, {
        sweep,
        ...(wait === undefined ? {} : { wait }),
        metrics,
        logger: createLogger({
          level: 'debug',
          clock: harness.clock,
          destination: { write: (line) => options.logged?.push(line) },
        }),
        settings: { busyPollMs: 5, idlePollMs: 80, restMs: 0, ...settings },
      });
      workers.push(worker);
      return worker;
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      harness.close();
    },
  };
}

/** A paid purchase as the ledger would have written it, its steps named by the follow-ups. */
export function paidOrder(ledger: Ledger, accountId = 'u_1', merchantId = 'm_1'): Order {
  const atMs = ledger.clock.nowMs();
  const order = openedOrder({
    tenant: 't_1',
    accountId,
    orderId: ledger.ids.ulid(atMs),
    merchantId,
    currency: 'USD',
    amount: '12.50',
    lines: [{ name: 'test', quantity: 1, unitPrice: decimal('12.50'), amount: decimal('12.50') }],
    atMs,
  });
  const payment = { method: 'WALLET', atMs, asset: 'ECOPAY' } as const;
  return payOrder(order, 'WALLET_CHARGE', payment, ledger.followUps({ kind: 'paid' }, order), {
    cause: 'WALLET_CHARGED',
    actor: accountId,
    atMs,
  });
}

/** Writes paid orders, fifty to a transaction. */
export async function putPaidOrders(ledger: Ledger, count: number): Promise<readonly Order[]> {
  const orders = Array.from({ length: count }, () => paidOrder(ledger));
  for (let start = 0; start < orders.length; start += 50) {
    const parts = orders.slice(start, start + 50).map((order) => putOrder(order, ledger.settings));
    const result = await commit(ledger, plan(ledger.ids.token(), ...parts));
    if (result.kind !== 'COMMITTED') throw new Error(`orders not written: ${result.kind}`);
  }
  return orders;
}

export async function putPaidOrder(ledger: Ledger): Promise<Order> {
  const [order] = await putPaidOrders(ledger, 1);
  if (order === undefined) throw new Error('no order');
  return order;
}

export async function reread(harness: Harness, { tenant, accountId, orderId }: OrderRef): Promise<Order> {
  return harness.order(tenant, accountId, orderId);
}

/** Waits until the check no longer throws: long enough for a busy machine, and not longer than it takes. */
export function eventually<Value>(check: () => Value | Promise<Value>, timeoutMs = 15_000): Promise<Value> {
  return vi.waitFor(check, { timeout: timeoutMs, interval: 25 });
}

/** The order once it has become what is waited for. */
export async function until(
  harness: FulfilmentHarness,
  order: Order,
  reached: (now: Order) => boolean,
): Promise<Order> {
  return eventually(async () => {
    const now = await reread(harness, order);
    if (!reached(now)) throw new Error(`not yet: ${now.state} ${JSON.stringify(now.steps)}`);
    return now;
  });
}

export const isConfirmed = ({ state }: Order): boolean => state === 'CONFIRMED';
export const hasDied = ({ steps }: Order): boolean => steps.some(({ state }) => state === 'DEAD');

/** A run that goes on until the test lets it end. */
export function heldRun(): {
  readonly run: (context: StepContext) => Promise<StepResult>;
  readonly started: Promise<void>;
  readonly end: () => void;
} {
  let end = (): void => undefined;
  let start = (): void => undefined;
  const ended = new Promise<StepResult>((resolve) => {
    end = () => {
      resolve(DONE);
    };
  });
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  return {
    run: () => {
      start();
      return ended;
    },
    started,
    end: () => {
      end();
    },
  };
}
