import { afterEach, describe, expect, it } from 'vitest';
import type { StepResult } from '../../../src/fulfilment/follow-up.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { admin, customer, terminal } from '../../support/harness.ts';
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

const AGAIN: StepResult = { kind: 'RETRY', reason: 'not yet' };

describe('an order that is PAID', () => {
  it('is CONFIRMED by a worker when nothing has to follow', async () => {
    harness = await makeFulfilment([]);
    await harness.fund('t_1', 'u_1', '100.00');
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '12.50');
    await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: id, asset: 'ECOPAY' });
    harness.startWorker();
    const now = await until(harness, await harness.order('t_1', 'u_1', orderId), isConfirmed);
    expect(now.timeline.map(({ cause }) => cause)).toEqual(['CREATED', 'WALLET_CHARGED', 'COMPLETED']);
    expect(now.version).toBe(3);
  });

  it('is CONFIRMED once its step is done, and subscribers are told of both', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const order = await putPaidOrder(harness.ledger);
    const reported: string[] = [];
    await harness.ledger.bus.subscribe(`t_1#order#u_1#${order.orderId}`, (notice) => {
      if (notice.kind === 'transition') reported.push(notice.transition.cause);
    });
    harness.startWorker();
    const { steps } = await until(harness, order, isConfirmed);
    expect(steps).toEqual([
      { name: 'probe:paid', state: 'DONE', attempts: 1, nextAttemptAtMs: order.updatedAtMs },
    ]);
    await eventually(() => {
      expect(reported).toEqual(['STEP_DONE', 'COMPLETED']);
    });
  });

  it('is confirmed the same way when it is a top-up', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const input = { accountId: 'u_1', amount: '5.00', method: 'CASH' as const };
    const outcome = await topUp(harness.ledger, terminal(), harness.key(), input);
    if (outcome.kind !== 'TopUpSuccess') throw new Error(outcome.kind);
    harness.startWorker();
    const now = await until(harness, await harness.order('t_1', 'u_1', outcome.orderId), isConfirmed);
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
    await until(harness, order, isConfirmed);
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
    const now = await until(harness, order, ({ steps }) =>
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
    const now = await until(harness, await harness.order('t_1', 'u_1', orderId), ({ steps }) =>
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
    const order = await until(harness, await harness.order('t_1', 'u_1', orderId), isConfirmed);
    await refund(harness.ledger, admin(), harness.key(), { orderId: id, amount: '1.00' });
    await until(
      harness,
      order,
      ({ steps }) => steps.length === 2 && steps.every(({ state }) => state === 'DONE'),
    );
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
    const now = await until(harness, order, isConfirmed);
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
    const reported: string[] = [];
    await harness.ledger.bus.subscribe(`t_1#order#u_1#${order.orderId}`, (notice) => {
      if (notice.kind === 'transition') reported.push(notice.transition.cause);
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
    const now = await until(harness, order, isConfirmed);
    await eventually(() => {
      expect(reported).toEqual(['STEP_DONE', 'COMPLETED']);
    });
    expect(runs).toBe(1);
    expect(now.steps).toMatchObject([{ state: 'DONE', attempts: 1 }]);
  });
});
