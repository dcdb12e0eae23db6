import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { StepResult } from '../../../src/fulfilment/follow-up.ts';
import { changeOrder } from '../../../src/ledger/usecases/runtime/change-order.ts';
import { finishStep } from '../../../src/ledger/usecases/steps/finish-step.ts';
import { takeUpOrder } from '../../../src/ledger/usecases/steps/take-up-order.ts';
import { note } from '../../../src/ledger/model/orders/order-changes.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { DEFAULT_STEP_POLICY } from '../../../src/ledger/model/orders/steps.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import type { Fault } from '../../support/faults.ts';
import {
  DONE,
  type FulfilmentHarness,
  eventually,
  followUp,
  makeFulfilment,
  putPaidOrder,
} from './support.ts';

/** What a worker says of a step whose recording no answer of the table tells of: what happened, and nothing else. */

let proxy: FaultProxy;
let harness: FulfilmentHarness;
let runs: number;
let logged: string[];
beforeEach(async () => {
  proxy = await startFaultProxy({ target: inject('engineEndpoint') });
  runs = 0;
  logged = [];
});
afterEach(async () => {
  proxy.calm();
  await proxy.release();
  await harness.stop();
  await proxy.stop();
});

async function makeFaulty(...followUps: Parameters<typeof makeFulfilment>[0]): Promise<void> {
  harness = await makeFulfilment(followUps, {
    endpoint: proxy.endpoint,
    directEndpoint: inject('engineEndpoint'),
    logged,
  });
}

/** Every send of the next write has the fault, as often as the executor sends one whose answers are lost. */
function nextWrite(fault: Fault): void {
  proxy.next({ operation: 'TransactWriteItems', times: 3, fault });
}

/** A follow-up whose first run ends like this, its recording under a fault. */
function recordedUnder(fault: Fault, result: StepResult): ReturnType<typeof followUp> {
  return followUp(() => {
    runs += 1;
    if (runs > 1) return DONE;
    nextWrite(fault);
    return result;
  });
}

function now({ tenant, accountId, orderId }: Order): Promise<Order> {
  return harness.order(tenant, accountId, orderId);
}

/** The results of all runs that were counted, by name. */
async function counted(): Promise<readonly string[]> {
  const { body } = await harness.metrics.render();
  return [...body.matchAll(/^hitotsu_step_run_total\{step="(\w+)",result="(\w+)"\} (\d+)$/gm)]
    .map(([, step, result, times]) => `${String(step)} ${String(result)} ${String(times)}`)
    .sort();
}

async function untilCounted(...expected: readonly string[]): Promise<void> {
  await eventually(async () => {
    expect(await counted()).toEqual(expected);
  });
}

const saysTakenOver = (line: string): boolean => line.includes('taken over');
const LOST_AFTER: Fault = { kind: 'DROP_AFTER' };

describe('a result that was recorded though every answer was lost', () => {
  it('of a step that is done is counted as done, and the order as CONFIRMED', async () => {
    await makeFaulty(recordedUnder(LOST_AFTER, DONE));
    const order = await putPaidOrder(harness.ledger);
    harness.clock.advance(4_000);
    harness.startWorker();
    await untilCounted('probe done 1');
    expect(await now(order)).toMatchObject({ state: 'CONFIRMED', steps: [{ state: 'DONE', attempts: 1 }] });
    const { body } = await harness.metrics.render();
    expect(body).toContain('hitotsu_paid_to_confirmed_seconds_count 1');
    expect(body).toContain('hitotsu_paid_to_confirmed_seconds_sum 4');
    const done = logged.filter((line) => line.includes('A step is done'));
    const orderId = encodeNodeId('Order', order.tenant, order.accountId, order.orderId);
    expect(done.map((line): unknown => JSON.parse(line))).toMatchObject([{ tenant: order.tenant, orderId }]);
    expect(logged.filter(saysTakenOver)).toEqual([]);
    // Past the lease it had, nobody runs it again.
    harness.clock.advance(120_000);
    const next = await putPaidOrder(harness.ledger);
    await untilCounted('probe done 2');
    expect((await now(next)).state).toBe('CONFIRMED');
    expect(runs).toBe(2);
    expect((await now(order)).timeline.filter(({ cause }) => cause === 'STEP_DONE')).toHaveLength(1);
  });

  it('is found although somebody else has written the order since', async () => {
    await makeFaulty(
      followUp(() => {
        proxy.next({ operation: 'BatchGetItem', fault: { kind: 'PASS' } });
        proxy.next({ operation: 'BatchGetItem', fault: { kind: 'HOLD' } });
        nextWrite(LOST_AFTER);
        return DONE;
      }),
    );
    const order = await putPaidOrder(harness.ledger);
    harness.startWorker();
    await proxy.whenHeld(1);
    const later = await changeOrder(harness.ledger, order, (current, atMs) =>
      note(current, { cause: 'DISPUTE_OPENED', actor: 'stripe', atMs }),
    );
    expect(later.kind).toBe('CHANGED');
    await proxy.release();
    await untilCounted('probe done 1');
    expect(logged.filter(saysTakenOver)).toEqual([]);
    expect((await now(order)).timeline.map(({ cause }) => cause).slice(-3)).toEqual([
      'STEP_DONE',
      'COMPLETED',
      'DISPUTE_OPENED',
    ]);
  });

  it('of a step that failed is counted as retried', async () => {
    await makeFaulty(recordedUnder(LOST_AFTER, { kind: 'RETRY', reason: 'not yet' }));
    const order = await putPaidOrder(harness.ledger);
    harness.startWorker();
    await untilCounted('probe retried 1');
    expect(await now(order)).toMatchObject({
      state: 'PAID',
      steps: [{ state: 'PENDING', attempts: 1, lastError: 'not yet' }],
    });
    expect(logged.filter(saysTakenOver)).toEqual([]);
  });

  it('of a step that gave up is counted as dead, and an operator is told', async () => {
    await makeFaulty(recordedUnder(LOST_AFTER, { kind: 'GIVE_UP', reason: 'never' }));
    const order = await putPaidOrder(harness.ledger);
    harness.startWorker();
    await untilCounted('probe dead 1');
    expect((await now(order)).steps).toMatchObject([{ state: 'DEAD', lastError: 'never' }]);
    expect(logged.filter((line) => line.includes('A step is dead'))).toHaveLength(1);
  });

  it('of a step that was given back is counted as released', async () => {
    let start = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    await makeFaulty(
      followUp(({ signal }) => {
        start();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            nextWrite(LOST_AFTER);
            reject(new Error('broken off'));
          });
        });
      }),
    );
    const order = await putPaidOrder(harness.ledger);
    const worker = harness.startWorker({ drainMs: 10 });
    await started;
    await worker.stop();
    await untilCounted('probe released 1');
    expect((await now(order)).steps).toMatchObject([{ state: 'PENDING', attempts: 0 }]);
    expect(logged.filter(saysTakenOver)).toEqual([]);
  });
});

describe('a result that was not recorded', () => {
  it('is counted as unrecorded, and the step runs again when its lease has passed', async () => {
    await makeFaulty(recordedUnder({ kind: 'DROP_BEFORE' }, DONE));
    const order = await putPaidOrder(harness.ledger);
    harness.startWorker();
    await untilCounted('probe unrecorded 1');
    expect((await now(order)).steps).toMatchObject([{ state: 'PENDING', attempts: 1 }]);
    expect(runs).toBe(1);
    harness.clock.advance(60_000);
    await untilCounted('probe done 1', 'probe unrecorded 1');
    expect(await now(order)).toMatchObject({ state: 'CONFIRMED', steps: [{ attempts: 2 }] });
  });

  it("is not taken for recorded because another step's was in the same instant", async () => {
    await makeFaulty(
      followUp(() => DONE, 'first'),
      followUp(() => DONE, 'second'),
    );
    const order = await putPaidOrder(harness.ledger);
    const reported: (string | undefined)[] = [];
    await harness.ledger.bus.subscribe(`t_1#order#u_1#${order.orderId}`, (notice) => {
      if (notice.kind === 'transition') reported.push(notice.transition.detail ?? notice.transition.cause);
    });
    await takeUpOrder(harness.ledger, order, 'worker', DEFAULT_STEP_POLICY);
    const finish = (stepName: string): ReturnType<typeof finishStep> =>
      finishStep(harness.ledger, order, { stepName, owner: 'worker' }, DONE, DEFAULT_STEP_POLICY);
    // Nothing of the first's write arrives, and it looks again only after the second's has.
    proxy.next({ operation: 'BatchGetItem', fault: { kind: 'PASS' } });
    proxy.next({ operation: 'BatchGetItem', fault: { kind: 'HOLD' } });
    nextWrite({ kind: 'DROP_BEFORE' });
    const first = finish('first:paid');
    await proxy.whenHeld(1);
    expect(await finish('second:paid')).toMatchObject({ kind: 'RECORDED', state: 'DONE', confirmed: false });
    await proxy.release();
    expect(await first).toMatchObject({ kind: 'RECORDED', state: 'DONE', confirmed: true });
    const { state, steps } = await now(order);
    expect([state, ...steps.map((step) => step.state)]).toEqual(['CONFIRMED', 'DONE', 'DONE']);
    expect(reported).toEqual(['second:paid', 'first:paid', 'COMPLETED']);
  });
});
