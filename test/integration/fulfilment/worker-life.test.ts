import { afterEach, describe, expect, it } from 'vitest';
import {
  DONE,
  type FulfilmentHarness,
  followUp,
  makeFulfilment,
  putPaidOrder,
  reread,
  eventually,
  heldRun,
  isConfirmed,
  until,
} from './support.ts';

let harness: FulfilmentHarness;
afterEach(async () => {
  await harness.stop();
});

describe('a worker that stops', () => {
  it('takes up nothing more and waits for what runs', async () => {
    const held = heldRun();
    harness = await makeFulfilment([followUp(held.run)]);
    const order = await putPaidOrder(harness.ledger);
    const worker = harness.startWorker();
    await held.started;
    const stopped = worker.stop();
    const late = await putPaidOrder(harness.ledger);
    held.end();
    await stopped;
    expect((await reread(harness, order)).state).toBe('CONFIRMED');
    expect((await reread(harness, late)).steps).toMatchObject([{ state: 'PENDING', attempts: 0 }]);
  });

  it('gives back what does not end in time, so that the next one need not wait for the lease', async () => {
    const held = heldRun();
    let runs = 0;
    harness = await makeFulfilment([
      followUp((context) => {
        runs += 1;
        return runs === 1 ? held.run(context) : DONE;
      }),
    ]);
    const order = await putPaidOrder(harness.ledger);
    const worker = harness.startWorker({ drainMs: 10 });
    await held.started;
    await worker.stop();
    const released = await reread(harness, order);
    expect(released.steps).toEqual([
      { name: 'probe:paid', state: 'PENDING', attempts: 0, nextAttemptAtMs: harness.clock.nowMs() },
    ]);
    harness.startWorker();
    await until(harness, order, isConfirmed);
  });

  it('refuses to start with a run that may outlast its lease', async () => {
    harness = await makeFulfilment([]);
    expect(() => harness.startWorker({ runTimeoutMs: 60_000 })).toThrow(RangeError);
  });
});

describe('an idle worker', () => {
  it('slows down until it asks each shard once in its idle time', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const waits: number[] = [];
    const worker = harness.startWorker(
      { busyPollMs: 25, idlePollMs: 2_000 },
      { ...harness.ledger, ids: { ...harness.ledger.ids, fraction: () => 0 } },
      undefined,
      (ms, signal) => {
        if (ms < 60_000) waits.push(ms);
        // Time passes at once, until the worker has been idle for long; then it stands still.
        return ms < 60_000 && waits.length < 48
          ? Promise.resolve()
          : new Promise((resolve) => {
              signal.addEventListener('abort', () => {
                resolve();
              });
            });
      },
    );
    await eventually(() => {
      expect(waits).toHaveLength(48);
    });
    expect(waits.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 25));
    expect(waits.slice(-8)).toEqual(Array.from({ length: 8 }, () => 250));
    await worker.stop();
  });
});
