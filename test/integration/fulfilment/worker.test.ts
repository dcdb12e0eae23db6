import { afterEach, describe, expect, it, vi } from 'vitest';
import { charge } from '../../../src/ledger/operations/charge.ts';
import { customer } from '../../support/harness.ts';
import { DONE, type FulfilmentHarness, followUp, makeFulfilment, putPaidOrder, reread } from './support.ts';

let harness: FulfilmentHarness;
afterEach(async () => {
  await harness.stop();
});

describe('an order that is PAID', () => {
  it('is CONFIRMED by a worker when nothing has to follow', async () => {
    harness = await makeFulfilment([]);
    await harness.fund('t_1', 'u_1', '100.00');
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '12.50');
    await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: id, asset: 'ECOPAY' });
    harness.startWorker();
    await vi.waitFor(async () => {
      expect((await harness.order('t_1', 'u_1', orderId)).state).toBe('CONFIRMED');
    });
    const { timeline, version } = await harness.order('t_1', 'u_1', orderId);
    expect(timeline.map(({ cause }) => cause)).toEqual(['CREATED', 'WALLET_CHARGED', 'COMPLETED']);
    expect(version).toBe(3);
  });

  it('is CONFIRMED once its step is done, and subscribers are told of both', async () => {
    harness = await makeFulfilment([followUp(() => DONE)]);
    const order = await putPaidOrder(harness.ledger);
    const told: string[] = [];
    await harness.ledger.bus.subscribe(`t_1#order#u_1#${order.orderId}`, (notice) => {
      if (notice.kind === 'transition') told.push(notice.transition.cause);
    });
    harness.startWorker();
    await vi.waitFor(async () => {
      expect((await reread(harness, order)).state).toBe('CONFIRMED');
    });
    const { steps } = await reread(harness, order);
    expect(steps).toEqual([
      { name: 'probe:paid', state: 'DONE', attempts: 1, nextAttemptAtMs: order.updatedAtMs },
    ]);
    expect(told).toEqual(['STEP_DONE', 'COMPLETED']);
  });
});
