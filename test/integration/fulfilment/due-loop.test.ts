import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DueLoop, startDueLoop } from '../../../src/fulfilment/due-loop.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { type FulfilmentHarness, eventually, makeFulfilment, putPaidOrders } from './support.ts';

/** Wake-ups past the index, on a loop whose polls go on only when the test says so. */

const WAKE_AFTER_MS = 7;
const BUSY_MS = 25;
const IDLE_MS = 250;

let harness: FulfilmentHarness;
let loop: DueLoop;
let workedOn: string[];
/** Ends the run at hand. */
let endRun: () => void;
let poll: () => void;
let pausesMs: number[];
beforeEach(async () => {
  harness = await makeFulfilment([]);
  workedOn = [];
  pausesMs = [];
  endRun = () => undefined;
  poll = () => undefined;
});
afterEach(async () => {
  const stopped = loop.stop();
  endRun();
  await stopped;
  await harness.stop();
});

/** Polls by itself until it is as slow as it gets; with one slot, which the test frees. */
function startIdleLoop(): Promise<void> {
  loop = startDueLoop({
    ledger: { ...harness.ledger, ids: { ...harness.ledger.ids, fraction: () => 0 } },
    concurrency: 1,
    busyPollMs: BUSY_MS,
    idlePollMs: 8 * IDLE_MS,
    wakeAfterMs: WAKE_AFTER_MS,
    restMs: 0,
    metrics: harness.metrics,
    logger: createLogger({ level: 'silent', clock: harness.clock }),
    work: async ({ orderId }) => {
      workedOn.push(orderId);
      await new Promise<void>((resolve) => {
        endRun = resolve;
      });
      return true;
    },
    wait: (ms, signal) => {
      if (ms === WAKE_AFTER_MS) return Promise.resolve();
      pausesMs.push(ms);
      if (pausesMs.length < 40 || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        poll = resolve;
        signal.addEventListener('abort', () => {
          resolve();
        });
      });
    },
  });
  return eventually(() => {
    expect(pausesMs).toHaveLength(40);
    expect(pausesMs.at(-1)).toBe(IDLE_MS);
  });
}

it('a wake-up is worked on without a poll, and one that comes twice once', async () => {
  await startIdleLoop();
  const [order] = await putPaidOrders(harness.ledger, 1);
  if (order === undefined) throw new Error('no order');
  loop.wake(order);
  loop.wake(order);
  await eventually(() => {
    expect(workedOn).toEqual([order.orderId]);
  });
  expect(pausesMs).toHaveLength(40);
});

it('a wake-up for which no slot is free makes the loop look into the index at its busy pace', async () => {
  await startIdleLoop();
  const [first, second] = await putPaidOrders(harness.ledger, 2);
  if (first === undefined || second === undefined) throw new Error('no orders');
  loop.wake(first);
  loop.wake(second);
  await eventually(() => {
    expect(workedOn).toEqual([first.orderId]);
  });
  poll();
  endRun();
  // The shard that comes next may hold neither; whichever it is, the next pause is the short one.
  await eventually(() => {
    expect(pausesMs[40]).toBe(BUSY_MS);
  });
});
