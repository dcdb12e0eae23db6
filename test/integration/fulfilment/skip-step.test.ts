import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Viewer } from '../../../src/auth/viewer.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { putOrder } from '../../../src/ledger/items/order-writes.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import type { Order, Step } from '../../../src/ledger/model/orders/order.ts';
import { skipStep } from '../../../src/ledger/usecases/commands/skip-step.ts';
import { listDeadSteps } from '../../../src/ledger/usecases/queries/read-dead-steps.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { countDeadOrders } from '../../../src/ledger/usecases/steps/count-dead-orders.ts';
import { retryStep } from '../../../src/ledger/usecases/steps/retry-step.ts';
import { type Harness, admin, customer, makeHarness, merchant, terminal } from '../../support/harness.ts';
import { paidOrder } from './support.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterAll(() => {
  harness.close();
});

const DEAD: Step = { name: 'probe:paid', state: 'DEAD', attempts: 18, nextAttemptAtMs: 0, lastError: 'gone' };
const SURPLUS: Step = { ...DEAD, name: 'refund-surplus:pi_2' };

async function put(changes: Partial<Order> = {}): Promise<Order> {
  const order = { ...paidOrder(harness.ledger), steps: [DEAD], ...changes };
  const part = putOrder(order, harness.ledger.settings);
  expect(await commit(harness.ledger, plan(harness.ledger.ids.token(), part))).toMatchObject({
    kind: 'COMMITTED',
  });
  return order;
}

function idOf({ tenant, accountId, orderId }: Order): string {
  return encodeNodeId('Order', tenant, accountId, orderId);
}

interface Asked {
  readonly viewer?: Viewer;
  readonly key?: string;
  readonly step?: string;
  readonly reason?: string;
}

function skip(order: Order, { viewer = admin(), key = harness.key(), ...asked }: Asked = {}) {
  const { step = DEAD.name, reason = 'told by phone' } = asked;
  return skipStep(harness.ledger, viewer, key, { orderId: idOf(order), step, reason });
}

function now({ orderId }: Order): Promise<Order> {
  return harness.order('t_1', 'u_1', orderId);
}

const overpaid = (refunded: string): Partial<Order> => ({
  steps: [SURPLUS],
  overpayments: [
    {
      paymentId: 'pi_2',
      amount: decimal('10'),
      refunded: decimal(refunded),
      refundCount: 0,
      pendingRefundCount: 0,
    },
  ],
});

describe('skipStep', () => {
  it('takes a dead step out of the queue and its count, by whom and why on the timeline, and confirms', async () => {
    const order = await put();
    expect(await countDeadOrders(harness.ledger)).toBe(1);
    const key = harness.key();
    const success = { kind: 'SkipStepSuccess', accountId: 'u_1', orderId: order.orderId };
    expect(await skip(order, { key })).toEqual({ ...success, stepName: 'probe:paid', replayed: false });
    const after = await now(order);
    expect(after.steps).toMatchObject([{ state: 'SKIPPED', attempts: 18, lastError: 'gone' }]);
    expect(after.state).toBe('CONFIRMED');
    expect(after.timeline.slice(-2)).toMatchObject([
      { cause: 'STEP_SKIPPED', actor: 'root', detail: 'probe:paid: told by phone' },
      { from: 'PAID', to: 'CONFIRMED', cause: 'COMPLETED' },
    ]);
    expect(await countDeadOrders(harness.ledger)).toBe(0);
    expect((await listDeadSteps(harness.ledger, admin(), {})).rows).toEqual([]);
    expect(await skip(order, { key })).toMatchObject({ ...success, replayed: true });
    expect((await skip(order, { key, reason: 'another' })).kind).toBe('IdempotencyKeyReused');
    expect(await now(order)).toEqual(after);
    // Nobody revives it by mistake.
    const stepId = encodeNodeId('Step', 't_1', 'u_1', order.orderId, DEAD.name);
    expect((await retryStep(harness.ledger, admin(), stepId)).kind).toBe('RetryStepSuccess');
    expect((await now(order)).steps[0]?.state).toBe('SKIPPED');
  });

  it('leaves the order where another step is left', async () => {
    const order = await put({ steps: [DEAD, { ...DEAD, name: 'other:paid' }] });
    expect((await skip(order)).kind).toBe('SkipStepSuccess');
    expect((await now(order)).state).toBe('PAID');
    expect(await countDeadOrders(harness.ledger)).toBe(1);
    expect((await skip(order, { step: 'other:paid' })).kind).toBe('SkipStepSuccess');
    expect((await now(order)).state).toBe('CONFIRMED');
  });

  it.each(['PENDING', 'DONE', 'SKIPPED'] as const)(
    'refuses a step that is %s, and stores nothing',
    async (state) => {
      const order = await put({ steps: [{ ...DEAD, state }] });
      expect(await skip(order)).toMatchObject({
        kind: 'InvalidInput',
        issues: [{ path: ['step'], code: 'not_dead' }],
      });
      expect((await now(order)).rev).toBe(order.rev);
    },
  );

  it('refuses the step that gives an overpayment back while any of it is still here', async () => {
    const order = await put(overpaid('9.99'));
    const key = harness.key();
    expect(await skip(order, { step: SURPLUS.name, key })).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['step'], code: 'moves_money' }],
    });
    expect((await now(order)).steps[0]?.state).toBe('DEAD');
  });

  it('lets it be once the money is gone: refunded, or lost to a dispute', async () => {
    const refunded = await put(overpaid('10'));
    const dispute = { disputeId: 'dp_1', paymentId: 'pi_2', amount: decimal('10'), ofOverpayment: true };
    const lost = await put({
      ...overpaid('0'),
      disputes: [{ ...dispute, status: 'lost', recorded: true }],
    });
    const open = await put({
      ...overpaid('0'),
      disputes: [{ ...dispute, disputeId: 'dp_2', status: 'open', recorded: false }],
    });
    expect((await skip(refunded, { step: SURPLUS.name })).kind).toBe('SkipStepSuccess');
    expect((await skip(lost, { step: SURPLUS.name })).kind).toBe('SkipStepSuccess');
    expect((await skip(open, { step: SURPLUS.name })).kind).toBe('InvalidInput');
  });

  it("is the order's merchant's and an admin's; to anybody else the order isn't there", async () => {
    const order = await put();
    const others = [merchant('m_2'), customer('u_1'), terminal(), admin('demo')];
    for (const viewer of others) expect(await skip(order, { viewer })).toEqual({ kind: 'NotFound' });
    expect(await skip(order, { step: 'nobody:paid' })).toEqual({ kind: 'NotFound' });
    expect((await skip(order, { viewer: merchant(), reason: '' })).kind).toBe('InvalidInput');
    expect((await skip(order, { viewer: merchant(), reason: 'x'.repeat(101) })).kind).toBe('InvalidInput');
    expect((await skip(order, { viewer: merchant() })).kind).toBe('SkipStepSuccess');
    expect((await now(order)).timeline.at(-2)).toMatchObject({ actor: 'm_1-office' });
  });
});
