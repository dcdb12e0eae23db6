import { afterEach, describe, expect, it } from 'vitest';
import type { StepContext, StepResult } from '../../../src/fulfilment/follow-up.ts';
import { countDeadOrders } from '../../../src/ledger/operations/count-dead-orders.ts';
import { charge } from '../../../src/ledger/operations/charge.ts';
import { topUp } from '../../../src/ledger/operations/top-up.ts';
import { type Ledger, commit } from '../../../src/ledger/operations/ledger.ts';
import { listDeadSteps } from '../../../src/ledger/operations/read-dead-steps.ts';
import { refund } from '../../../src/ledger/operations/refund.ts';
import { retryStep } from '../../../src/ledger/operations/retry-step.ts';
import { encodeNodeId } from '../../../src/ledger/node-ids.ts';
import { openOrder } from '../../../src/ledger/orders/payments.ts';
import { putOrder } from '../../../src/ledger/orders/order-writes.ts';
import { decimal } from '../../../src/ledger/money.ts';
import { toAttributes } from '../../../src/ledger/attributes.ts';
import { dueShard } from '../../../src/ledger/orders/due.ts';
import { integer } from '../../../src/ledger/integers.ts';
import { orderKey } from '../../../src/ledger/keys.ts';
import { plan } from '../../../src/ledger/plan.ts';
import { DEFAULT_STEP_POLICY } from '../../../src/ledger/orders/steps.ts';
import type { Order } from '../../../src/ledger/orders/order.ts';
import { admin, customer, terminal } from '../../support/harness.ts';
import {
  DONE,
  type FulfilmentHarness,
  followUp,
  makeFulfilment,
  putPaidOrder,
  putPaidOrders,
  reread,
  eventually,
} from './support.ts';

let harness: FulfilmentHarness;
afterEach(async () => {
  await harness.stop();
});

const AGAIN: StepResult = { kind: 'RETRY', reason: 'not yet' };

async function until(order: Order, reached: (now: Order) => boolean): Promise<Order> {
  return eventually(async () => {
    const now = await reread(harness, order);
    if (!reached(now)) throw new Error(`not yet: ${now.state} ${JSON.stringify(now.steps)}`);
    return now;
  });
}

const isConfirmed = ({ state }: Order): boolean => state === 'CONFIRMED';
const hasDied = ({ steps }: Order): boolean => steps.some(({ state }) => state === 'DEAD');

/** A run that goes on until the test lets it end. */
function heldRun(): {
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

describe('an order that is PAID', () => {
  it('is CONFIRMED by a worker when nothing has to follow', async () => {
    harness = await makeFulfilment([]);
    await harness.fund('t_1', 'u_1', '100.00');
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '12.50');
    await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: id, asset: 'ECOPAY' });
    harness.startWorker();
    const now = await until(await harness.order('t_1', 'u_1', orderId), isConfirmed);
    expect(now.timeline.map(({ cause }) => cause)).toEqual(['CREATED', 'WALLET_CHARGED', 'COMPLETED']);
    expect(now.version).toBe(3);
  });

  it('is CONFIRMED once its step is done, and subscribers are told of both', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const order = await putPaidOrder(harness.ledger);
    const told: string[] = [];
    await harness.ledger.bus.subscribe(`t_1#order#u_1#${order.orderId}`, (notice) => {
      if (notice.kind === 'transition') told.push(notice.transition.cause);
    });
    harness.startWorker();
    const { steps } = await until(order, isConfirmed);
    expect(steps).toEqual([
      { name: 'probe:paid', state: 'DONE', attempts: 1, nextAttemptAtMs: order.updatedAtMs },
    ]);
    await eventually(() => {
      expect(told).toEqual(['STEP_DONE', 'COMPLETED']);
    });
  });

  it('is confirmed the same way when it is a top-up', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const input = { accountId: 'u_1', amount: '5.00', method: 'CASH' };
    const outcome = await topUp(harness.ledger, terminal(), harness.key(), input);
    if (outcome.kind !== 'TopUpSuccess') throw new Error(outcome.kind);
    harness.startWorker();
    const now = await until(await harness.order('t_1', 'u_1', outcome.orderId), isConfirmed);
    expect(now.timeline.map(({ cause }) => cause)).toEqual([
      'CREATED',
      'CASH_RECEIVED',
      'STEP_DONE',
      'COMPLETED',
    ]);
  });

  it('is counted by how long it took', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const order = await putPaidOrder(harness.ledger);
    harness.clock.advance(4_000);
    harness.startWorker();
    await until(order, isConfirmed);
    await eventually(async () => {
      const { body } = await harness.metrics.render();
      expect(body).toContain('hitotsu_paid_to_confirmed_seconds_sum 4');
      expect(body).toContain('hitotsu_step_run_total{step="probe",result="done"} 1');
    });
  });
});

describe('a step', () => {
  it('runs beside the others of its order, and one that fails holds none of them up', async () => {
    const runs: string[] = [];
    harness = await makeFulfilment([
      followUp(() => {
        runs.push('a');
        return AGAIN;
      }, 'a'),
      followUp(() => {
        runs.push('b');
        return DONE;
      }, 'b'),
    ]);
    const order = await putPaidOrder(harness.ledger);
    harness.startWorker();
    const now = await until(order, ({ steps }) =>
      steps.every(({ owner, attempts }) => owner === undefined && attempts === 1),
    );
    expect([...runs].sort()).toEqual(['a', 'b']);
    expect(now.steps).toMatchObject([
      { name: 'a:paid', state: 'PENDING', attempts: 1, lastError: 'not yet' },
      { name: 'b:paid', state: 'DONE', attempts: 1 },
    ]);
    expect(now.state).toBe('PAID');
  });

  it('is done although the order changed while it ran', async () => {
    const held = heldRun();
    harness = await makeFulfilment([followUp(held.run)]);
    await harness.fund('t_1', 'u_1', '100.00');
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '12.50');
    await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: id });
    harness.startWorker();
    await held.started;
    const refunded = await refund(harness.ledger, admin(), harness.key(), { orderId: id });
    expect(refunded.kind).toBe('RefundSuccess');
    held.end();
    const now = await until(await harness.order('t_1', 'u_1', orderId), ({ steps }) =>
      steps.every(({ state }) => state === 'DONE'),
    );
    expect(now.state).toBe('REFUNDED');
    expect(now.timeline.map(({ cause }) => cause)).toEqual([
      'CREATED',
      'WALLET_CHARGED',
      'REFUND_SUCCEEDED',
      'STEP_DONE',
    ]);
  });

  it('runs at once although the order was due at the very same instant before', async () => {
    const every = { ...followUp(() => DONE), appliesTo: () => true };
    harness = await makeFulfilment([every]);
    await harness.fund('t_1', 'u_1', '100.00');
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '12.50');
    harness.startWorker({ restMs: 60_000 });
    await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: id });
    const order = await until(await harness.order('t_1', 'u_1', orderId), isConfirmed);
    await refund(harness.ledger, admin(), harness.key(), { orderId: id, amount: '1.00' });
    await until(order, ({ steps }) => steps.length === 2 && steps.every(({ state }) => state === 'DONE'));
  });

  it('is taken over from a worker that hangs past its lease, whose late result counts for nothing', async () => {
    const held = heldRun();
    let runs = 0;
    harness = await makeFulfilment([
      followUp((context) => {
        runs += 1;
        return runs === 1 ? held.run(context) : DONE;
      }),
    ]);
    const order = await putPaidOrder(harness.ledger);
    harness.startWorker();
    await held.started;
    expect((await harness.metrics.render()).body).toContain('hitotsu_running_steps 1');
    harness.startWorker();
    harness.clock.advance(59_999);
    expect((await reread(harness, order)).steps).toMatchObject([{ attempts: 1 }]);
    harness.clock.advance(1);
    const now = await until(order, isConfirmed);
    held.end();
    await eventually(async () => {
      const { body } = await harness.metrics.render();
      expect(body).toContain('hitotsu_step_run_total{step="probe",result="lost"} 1');
    });
    expect(await reread(harness, order)).toEqual(now);
    expect(now.steps).toMatchObject([{ state: 'DONE', attempts: 2 }]);
    expect(now.timeline.filter(({ cause }) => cause === 'STEP_DONE')).toHaveLength(1);
  });

  it('is recorded once though every answer of the table is lost, and subscribers are told', async () => {
    let runs = 0;
    harness = await makeFulfilment([
      followUp(() => {
        runs += 1;
        return DONE;
      }),
    ]);
    const order = await putPaidOrder(harness.ledger);
    const told: string[] = [];
    await harness.ledger.bus.subscribe(`t_1#order#u_1#${order.orderId}`, (notice) => {
      if (notice.kind === 'transition') told.push(notice.transition.cause);
    });
    const deaf: Ledger = {
      ...harness.ledger,
      transactor: {
        commit: async (one) => {
          const result = await harness.ledger.transactor.commit(one);
          return result.kind === 'COMMITTED' ? { kind: 'UNKNOWN' } : result;
        },
      },
    };
    harness.startWorker({}, deaf);
    const now = await until(order, isConfirmed);
    await eventually(() => {
      expect(told).toEqual(['STEP_DONE', 'COMPLETED']);
    });
    expect(runs).toBe(1);
    expect(now.steps).toMatchObject([{ state: 'DONE', attempts: 1 }]);
  });
});

describe('many due orders', () => {
  it('are not held up by one that nobody can help: it dies, and an operator revives it', async () => {
    let cured = false;
    harness = await makeFulfilment([
      followUp(({ order }) => {
        if (order.accountId === 'u_1' && order.orderId === poisonId && !cured) throw new Error('poison');
        return DONE;
      }),
    ]);
    const orders = await putPaidOrders(harness.ledger, 20);
    const [poison, ...others] = orders;
    if (poison === undefined) throw new Error('no order');
    const poisonId = poison.orderId;
    const policy = { ...DEFAULT_STEP_POLICY, maxAttempts: 2 };
    harness.startWorker({ policy, concurrency: 2, censusMs: 20 });
    for (const order of others) await until(order, isConfirmed);
    await until(poison, ({ steps }) =>
      steps.some(({ attempts, owner }) => attempts === 1 && owner === undefined),
    );
    harness.clock.advance(10_000);
    const dead = await until(poison, hasDied);
    expect(dead.state).toBe('PAID');
    expect(dead.steps).toMatchObject([{ state: 'DEAD', attempts: 2, lastError: 'Error: poison' }]);
    expect(dead.timeline.at(-1)).toMatchObject({ cause: 'STEP_DEAD', detail: 'probe:paid', actor: 'worker' });

    const listed = await listDeadSteps(harness.ledger, admin(), { first: 10 });
    expect(listed.rows.map(({ row }) => [row.order.orderId, row.step.name])).toEqual([
      [poisonId, 'probe:paid'],
    ]);
    expect(await countDeadOrders(harness.ledger)).toBe(1);
    await eventually(async () => {
      expect((await harness.metrics.render()).body).toContain('hitotsu_dead_steps 1');
    });

    cured = true;
    const id = encodeNodeId('Step', 't_1', 'u_1', poisonId, 'probe:paid');
    expect(await retryStep(harness.ledger, admin(), id)).toEqual({
      kind: 'RetryStepSuccess',
      accountId: 'u_1',
      orderId: poisonId,
      stepName: 'probe:paid',
    });
    const now = await until(poison, isConfirmed);
    expect(now.timeline.slice(-3).map(({ cause, actor }) => [cause, actor])).toEqual([
      ['STEP_RETRIED', 'root'],
      ['STEP_DONE', 'worker'],
      ['COMPLETED', 'worker'],
    ]);
    expect((await listDeadSteps(harness.ledger, admin(), {})).rows).toEqual([]);
  });

  it('are not held up by items that nobody can read, however many stand before them', async () => {
    const logged: string[] = [];
    harness = await makeFulfilment([followUp(() => DONE)], { logged });
    const order = await putPaidOrder(harness.ledger);
    const shard = dueShard(order);
    const unreadable = Array.from({ length: 5 }, () => ({
      role: 'other' as const,
      item: {
        Put: {
          Item: toAttributes({
            ...orderKey({ ...order, orderId: harness.ledger.ids.ulid(order.createdAtMs) }),
            due_shard: shard,
            due_at: integer(order.updatedAtMs - 1_000),
          }),
        },
      },
    }));
    await commit(harness.ledger, plan(harness.ledger.ids.token(), { items: unreadable }));
    harness.startWorker({ concurrency: 1, restMs: 1_000 });
    await until(order, isConfirmed);
    // An index may be a moment behind: the order can be seen before the items that stand before it.
    await expect
      .poll(() => logged.some((line) => line.includes('A due order could not be worked on')))
      .toBe(true);
  });
});

describe('retryStep', () => {
  it('changes nothing of a step that is not dead, and succeeds', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const order = await putPaidOrder(harness.ledger);
    const id = encodeNodeId('Step', 't_1', 'u_1', order.orderId, 'probe:paid');
    expect((await retryStep(harness.ledger, admin(), id)).kind).toBe('RetryStepSuccess');
    expect((await reread(harness, order)).rev).toBe(order.rev);
  });

  it.each([
    ['another tenant', (id: string) => encodeNodeId('Step', 'demo', 'u_1', id, 'probe:paid')],
    [
      'an order that is not there',
      () => encodeNodeId('Step', 't_1', 'u_1', '01K9ZZZZZZZZZZZZZZZZZZZZZZ', 'probe:paid'),
    ],
    ['a step that is not there', (id: string) => encodeNodeId('Step', 't_1', 'u_1', id, 'other:paid')],
    ['an id of another kind', (id: string) => encodeNodeId('Order', 't_1', 'u_1', id)],
    ['no id at all', () => 'nonsense'],
  ])('finds nothing for %s', async (_name, idOf) => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const { orderId } = await putPaidOrder(harness.ledger);
    expect(await retryStep(harness.ledger, admin(), idOf(orderId))).toEqual({ kind: 'NotFound' });
  });
});

describe('an order that is due for another reason', () => {
  it('goes to the sweeper', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const atMs = harness.clock.nowMs();
    const opened = openOrder({
      tenant: 't_1',
      accountId: 'u_1',
      orderId: harness.ledger.ids.ulid(atMs),
      kind: 'PURCHASE',
      merchantId: 'm_1',
      currency: 'USD',
      amount: decimal('1'),
      lines: [],
      actor: 'u_1',
      consented: false,
      atMs,
    });
    const claim = {
      owner: 'dead',
      leaseEndMs: atMs + 30_000,
      marker: { principal: 'u_1', operation: 'checkout', key: 'k' },
      markerTtlS: 0,
    };
    const terms = { successUrl: 'https://shop.example', cancelUrl: 'https://shop.example' };
    const attempt = { number: 1, state: 'CLAIMED', claim, tries: 0, paymentMethodTypes: ['card'] } as const;
    const order: Order = { ...opened, attempts: [{ ...attempt, ...terms, expiresAtMs: atMs + 3_600_000 }] };
    await commit(harness.ledger, plan(harness.ledger.ids.token(), putOrder(order, harness.ledger.settings)));
    const swept: string[] = [];
    harness.startWorker({ restMs: 60_000 }, harness.ledger, ({ orderId }) => {
      swept.push(orderId);
      return Promise.resolve();
    });
    const paid = await putPaidOrder(harness.ledger);
    await until(paid, isConfirmed);
    expect(swept).toEqual([]);
    harness.clock.advance(30_000);
    await eventually(() => {
      expect(swept).toEqual([order.orderId]);
    });
  });
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
    await until(order, isConfirmed);
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
