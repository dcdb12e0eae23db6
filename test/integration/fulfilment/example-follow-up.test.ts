import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { receipt } from '../../../dev/example-follow-up.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { type MerchantServer, answers, startMerchantServer } from './merchant-server.ts';
import { type FulfilmentHarness, makeFulfilment, putPaidOrder, reread, eventually } from './support.ts';

let harness: FulfilmentHarness;
let service: MerchantServer;
beforeEach(async () => {
  service = await startMerchantServer();
  harness = await makeFulfilment([receipt({ serviceUrl: `${service.origin}/receipts` })]);
  harness.startWorker();
});
afterEach(async () => {
  await harness.stop();
  await service.stop();
});

async function until(order: Order, reached: (now: Order) => boolean): Promise<Order> {
  return eventually(async () => {
    const now = await reread(harness, order);
    if (!reached(now)) throw new Error(`not yet: ${JSON.stringify(now.steps)}`);
    return now;
  });
}

describe("the example of an operator's own step", () => {
  it('asks for one receipt, again under the same key when the service was down', async () => {
    service.answerWith(answers.status(503), answers.status(201));
    const order = await putPaidOrder(harness.ledger);
    const waiting = await until(order, ({ steps }) => steps[0]?.lastError !== undefined);
    expect(waiting.steps).toMatchObject([
      { name: 'receipt:paid', state: 'PENDING', lastError: 'the receipt service answered 503' },
    ]);
    harness.clock.advance(2_000);
    await until(order, ({ state }) => state === 'CONFIRMED');
    const keys = service.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(JSON.parse(service.received[0]?.body ?? '')).toMatchObject({
      about: 'paid',
      amount: '12.5',
      currency: 'USD',
    });
  });

  it('goes to the dead letters at once when the service refuses', async () => {
    service.answerWith(answers.status(422));
    const now = await until(await putPaidOrder(harness.ledger), ({ steps }) => steps[0]?.state === 'DEAD');
    expect(now.steps).toMatchObject([{ attempts: 1, lastError: 'the receipt service refuses this order' }]);
    expect(now.state).toBe('PAID');
  });
});
