import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Worker, startWorker } from '../../../src/fulfilment/worker.ts';
import { orderRefOf } from '../../../src/ledger/usecases/runtime/input.ts';
import { orderKey } from '../../../src/ledger/kernel/keys.ts';
import { readOrder } from '../../../src/ledger/items/order-item.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { ChargeDocument } from '../../support/generated/documents.ts';
import { ALICE, type Gateway, dataOf, startGateway } from '../../support/gateway.ts';
import { fund, openOrder } from '../graphql/money.ts';
import { eventually } from './support.ts';

/** A worker beside a gateway, whose polling stands still: what it takes up, it was woken for. */

const WAKE_AFTER_MS = 50;

let gateway: Gateway;
let worker: Worker | undefined;
/** Lets the wake-ups that wait go on. */
let wakeNow: () => void;
let wakes: number;
beforeEach(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  await fund(gateway, ALICE, '100.00');
  wakeNow = () => undefined;
  wakes = 0;
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await gateway.close();
});

/** Time in the test's hand: wake-ups wait for it, and everything else stands still. */
function ownedWait(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === WAKE_AFTER_MS) wakes += 1;
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
    if (ms !== WAKE_AFTER_MS) return;
    const before = wakeNow;
    wakeNow = () => {
      before();
      resolve();
    };
  });
}

function work(): void {
  const { ledger, registry, metrics, wakeUps } = gateway.server.app;
  worker = startWorker(ledger, registry, {
    sweep: () => Promise.resolve(),
    metrics,
    wakeUps,
    logger: createLogger({ level: 'silent', clock: gateway.clock }),
    // No poll's wait, with its jitter, is as long as a wake-up's.
    settings: { wakeAfterMs: WAKE_AFTER_MS, busyPollMs: 1_000, idlePollMs: 8_000 },
    wait: ownedWait,
  });
}

async function charge(orderId: string): Promise<void> {
  const answer = await gateway.run(ALICE, ChargeDocument, { key: gateway.key(), input: { orderId } });
  expect(dataOf(answer).charge.__typename).toBe('ChargeSuccess');
}

async function orderNow(id: string): Promise<Order> {
  const ref = orderRefOf('t_1', id);
  if (ref === undefined) throw new Error('no order');
  const [item] = await gateway.server.app.ledger.store.get([orderKey(ref)]);
  return readOrder(item ?? {});
}

function untilConfirmed(id: string): Promise<void> {
  return eventually(async () => {
    expect((await orderNow(id)).state).toBe('CONFIRMED');
  });
}

describe('an order that this process has paid', () => {
  it('is taken up at once, after the answer, though nobody looks into the index', async () => {
    work();
    const id = await openOrder(gateway, ALICE, '5.00');
    expect(wakes).toBe(0);
    await charge(id);
    expect(wakes).toBe(1);
    expect((await orderNow(id)).state).toBe('PAID');
    wakeNow();
    await untilConfirmed(id);
    expect((await orderNow(id)).timeline.map(({ cause }) => cause)).toEqual([
      'CREATED',
      'WALLET_CHARGED',
      'COMPLETED',
    ]);
    // What the worker itself wrote doesn't wake it.
    expect(wakes).toBe(1);
  });

  it('is left to its index by a worker that has stopped', async () => {
    work();
    const { wakeUps } = gateway.server.app;
    await worker?.stop();
    let heard = 0;
    wakeUps.onWake(() => {
      heard += 1;
    });
    const id = await openOrder(gateway, ALICE, '5.00');
    await charge(id);
    expect([heard, wakes]).toEqual([1, 0]);
    expect((await orderNow(id)).state).toBe('PAID');
  });
});
