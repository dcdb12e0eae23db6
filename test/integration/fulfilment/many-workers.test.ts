import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '../../../dev/engine/engine.ts';
import { stepKey } from '../../../src/fulfilment/run-step.ts';
import { startWorker } from '../../../src/fulfilment/worker.ts';
import { orderKey } from '../../../src/ledger/kernel/keys.ts';
import { readOrder } from '../../../src/ledger/items/order-item.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { startEngine } from '../../support/engine.ts';
import { makeHarness } from '../../support/harness.ts';
import {
  DONE,
  type FulfilmentHarness,
  followUp,
  makeFulfilment,
  putPaidOrders,
  eventually,
} from './support.ts';

const ORDERS = 1_000;

// An engine of its own: thousands of transactions slow one down that others share.
let engine: Engine;
let harness: FulfilmentHarness;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => {
  await harness.stop();
  await engine.stop();
});

it('three workers do each step of a thousand due orders once, never two at the same time', async () => {
  const runs = new Map<string, number>();
  const running = new Set<string>();
  let met = 0;
  let most = 0;
  harness = await makeFulfilment(
    [
      followUp(async ({ key }) => {
        if (running.has(key)) met += 1;
        running.add(key);
        most = Math.max(most, running.size);
        runs.set(key, (runs.get(key) ?? 0) + 1);
        await new Promise((resolve) => setImmediate(resolve));
        running.delete(key);
        return DONE;
      }),
    ],
    { endpoint: engine.endpoint },
  );
  const orders = await putPaidOrders(harness.ledger, ORDERS);
  const workers = await Promise.all(
    [1, 2, 3].map(async () => {
      const { ledger } = await makeHarness({
        endpoint: engine.endpoint,
        tableName: harness.tableName,
        clock: harness.clock,
      });
      return startWorker(ledger, harness.registry, {
        sweep: () => Promise.resolve(),
        metrics: createMetrics(),
        logger: createLogger({ level: 'silent', clock: harness.clock }),
        settings: { busyPollMs: 5, idlePollMs: 80, concurrency: 8 },
      });
    }),
  );
  await eventually(() => {
    expect(runs.size).toBe(ORDERS);
  }, 150_000);
  // They finish what runs.
  await Promise.all(workers.map((worker) => worker.stop()));
  const now = await readAll(orders);
  expect(now.filter(({ timeline }) => timeline.length === 4)).toHaveLength(ORDERS);
  expect(now.every(({ steps }) => steps[0]?.state === 'DONE' && steps[0].attempts === 1)).toBe(true);
  expect(orders.every((order) => runs.get(stepKey(order, 'probe:paid')) === 1)).toBe(true);
  expect([runs.size, met]).toEqual([ORDERS, 0]);
  expect(most).toBeLessThanOrEqual(24);
}, 180_000);

async function readAll(orders: readonly Order[]): Promise<readonly Order[]> {
  const pages = Array.from({ length: ORDERS / 100 }, (_, page) => orders.slice(page * 100, (page + 1) * 100));
  const read = await Promise.all(pages.map((page) => harness.ledger.store.get(page.map(orderKey))));
  return read.flat().flatMap((item) => (item === undefined ? [] : [readOrder(item)]));
}
