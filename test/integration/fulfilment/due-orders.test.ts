import { afterEach, describe, expect, it } from 'vitest';
import { countDeadOrders } from '../../../src/ledger/usecases/steps/count-dead-orders.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { listDeadSteps } from '../../../src/ledger/usecases/queries/read-dead-steps.ts';
import { retryStep } from '../../../src/ledger/usecases/steps/retry-step.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { putOrder } from '../../../src/ledger/items/order-writes.ts';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { dueShard } from '../../../src/ledger/model/orders/due.ts';
import { integer } from '../../../src/ledger/kernel/integers.ts';
import { orderKey } from '../../../src/ledger/kernel/keys.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { DEFAULT_STEP_POLICY } from '../../../src/ledger/model/orders/steps.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { admin } from '../../support/harness.ts';
import {
  DONE,
  type FulfilmentHarness,
  followUp,
  makeFulfilment,
  putPaidOrder,
  putPaidOrders,
  reread,
  eventually,
  hasDied,
  isConfirmed,
  until,
} from './support.ts';
import { openedOrder } from '../../support/sample-orders.ts';

let harness: FulfilmentHarness;
afterEach(async () => {
  await harness.stop();
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
    harness.startWorker({ policy, concurrency: 2, deadLetterCountMs: 20 });
    for (const order of others) await until(harness, order, isConfirmed);
    await until(harness, poison, ({ steps }) =>
      steps.some(({ attempts, owner }) => attempts === 1 && owner === undefined),
    );
    harness.clock.advance(10_000);
    const dead = await until(harness, poison, hasDied);
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
    const now = await until(harness, poison, isConfirmed);
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
    await until(harness, order, isConfirmed);
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
    const opened = openedOrder({
      tenant: 't_1',
      accountId: 'u_1',
      orderId: harness.ledger.ids.ulid(atMs),
      merchantId: 'm_1',
      currency: 'USD',
      amount: '1',
      atMs,
    });
    const lease = {
      owner: 'dead',
      leaseEndMs: atMs + 30_000,
      request: { principal: 'u_1', operation: 'checkout', key: 'k' },
      recordTtlS: 0,
    };
    const terms = { successUrl: 'https://shop.example', cancelUrl: 'https://shop.example' };
    const attempt = {
      number: 1,
      state: 'CLAIMED',
      lease,
      tries: 0,
      paymentMethodTypes: ['card'],
      itemized: false,
    } as const;
    const order: Order = { ...opened, attempts: [{ ...attempt, ...terms, expiresAtMs: atMs + 3_600_000 }] };
    await commit(harness.ledger, plan(harness.ledger.ids.token(), putOrder(order, harness.ledger.settings)));
    const swept: string[] = [];
    harness.startWorker({ restMs: 60_000 }, harness.ledger, ({ orderId }) => {
      swept.push(orderId);
      return Promise.resolve();
    });
    const paid = await putPaidOrder(harness.ledger);
    await until(harness, paid, isConfirmed);
    expect(swept).toEqual([]);
    harness.clock.advance(30_000);
    await eventually(() => {
      expect(swept).toEqual([order.orderId]);
    });
  });
});
