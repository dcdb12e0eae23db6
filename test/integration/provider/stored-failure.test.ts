import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sumPostings } from '../../../src/ledger/audit/posted-sums.ts';
import { plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import type { PaymentProvider } from '../../../src/provider/port.ts';
import { merchant } from '../../support/harness.ts';
import {
  LEASE_MS,
  type ProviderHarness,
  applyEvents,
  claimOn,
  makeProviderHarness,
  paidByCard,
} from './support.ts';

/**
 * Stripe answers a refund with 500, stores that for its key, and says it again for a day. Only two looks tell that nothing
 * was made; then a new key goes out (docs/DESIGN.md §5.5, §6).
 */

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const MINUTE_MS = 60_000;
const REFUNDS = { method: 'POST', path: '/v1/refunds', count: 1, status: 500, type: 'api_error' } as const;

const LOST = { method: 'POST', path: '/v1/refunds', when: 'before' } as const;

interface Asked {
  readonly id: string;
  readonly orderId: string;
  readonly paymentId: string;
  readonly key: string;
  readonly atMs: number;
}

let asked: Asked;
beforeEach(async () => {
  const paid = await paidByCard(harness, '100.00');
  asked = { ...paid, key: harness.key(), atMs: harness.clock.nowMs() };
});

function ask(ledger: Ledger = harness.ledger): ReturnType<typeof refund> {
  return refund(ledger, merchant(), asked.key, { orderId: asked.id, amount: '40.00' });
}

function sweep(ledger: Ledger = harness.ledger): ReturnType<typeof sweepOrder> {
  return sweepOrder(ledger, { tenant: 't_1', accountId: 'u_1', orderId: asked.orderId });
}

async function atStripe(): Promise<readonly number[]> {
  const listed = await harness.ledger.provider.listRefunds({ paymentId: asked.paymentId, limit: 100 });
  if (listed.kind !== 'DONE') throw new Error(listed.kind);
  return listed.value.items.map(({ amountMinor }) => amountMinor);
}

async function books(): Promise<string> {
  const { refunded, refundPending, refundable } = await harness.order('t_1', 'u_1', asked.orderId);
  const entries = await harness.entries('t_1', 'u_1');
  const ofOrder = entries.filter(
    ({ orderId, operation }) => orderId === asked.orderId && operation === 'REFUND',
  );
  const out = [...sumPostings(ofOrder).values()].find(({ name }) => name === 'stripe')?.sum;
  const texts = [refunded, refundPending, refundable].map(plainDecimal).join(' ');
  return `refunded, pending, refundable ${texts}; out ${out === undefined ? '0' : plainDecimal(out)}`;
}
const WAITING = 'refunded, pending, refundable 0 40 60; out 0';
const MADE = 'refunded, pending, refundable 40 0 60; out 40';

async function isPending(): Promise<boolean> {
  return (await harness.order('t_1', 'u_1', asked.orderId)).refundClaims.length > 0;
}

/** Lets time pass until the claim is settled, the sweeper coming whenever its lease is past. Gives the minutes it took. */
async function untilSettled(limitMinutes: number): Promise<number> {
  while (await isPending()) {
    const { leaseEndMs = 0 } = claimOn(await harness.order('t_1', 'u_1', asked.orderId));
    await harness.advance(Math.max(leaseEndMs - harness.clock.nowMs(), 0));
    if (minutesGone() > limitMinutes) break;
    await sweep();
  }
  return minutesGone();
}

function minutesGone(): number {
  return (harness.clock.nowMs() - asked.atMs) / MINUTE_MS;
}

function withProvider(overrides: Partial<PaymentProvider>): Ledger {
  const { provider } = harness.ledger;
  const own = new Map<PropertyKey, unknown>(Object.entries(overrides));
  const overridden = new Proxy(provider, {
    get: (target, name, receiver): unknown => own.get(name) ?? Reflect.get(target, name, receiver),
  });
  return { ...harness.ledger, provider: overridden };
}

/** How many times a refund was asked for since. */
function posts(from: number): number {
  return harness.calls.slice(from).filter((name) => name === 'createRefund').length;
}

describe('a refund for which Stripe has stored a 500', () => {
  it('though it was made is found in the list, and asked for once', async () => {
    await harness.simulator.failNextRequests({ ...REFUNDS, when: 'after', stored: true });
    const from = harness.calls.length;
    expect((await ask()).kind).toBe('RefundSuccess');
    expect(posts(from)).toBe(1);
    expect(await atStripe()).toEqual([4_000]);
    expect(await books()).toBe(MADE);
  });

  it('and that was not made is made within half an hour, once, and its key says so', async () => {
    await harness.simulator.failNextRequests({ ...REFUNDS, stored: true });
    expect((await ask()).kind).toBe('ProviderUnavailable');
    expect(await books()).toBe(WAITING);
    await untilSettled(14);
    expect(await atStripe()).toEqual([]);
    const minutes = await untilSettled(30);
    expect(minutes).toBeGreaterThanOrEqual(15);
    expect(minutes).toBeLessThanOrEqual(30);
    expect(await atStripe()).toEqual([4_000]);
    expect(await books()).toBe(MADE);
    expect(await ask()).toMatchObject({ kind: 'RefundSuccess', replayed: true });
    await applyEvents(harness);
    expect(await books()).toBe(MADE);
    const [{ tries } = {}] = await harness.refunds('t_1', 'u_1', asked.orderId);
    expect(tries).toBe(1);
  });

  it('twice, under the new key too, is made under a third, once', async () => {
    await harness.simulator.failNextRequests({ ...REFUNDS, stored: true });
    await ask();
    await untilSettled(14);
    await harness.simulator.failNextRequests({ ...REFUNDS, stored: true });
    expect(await untilSettled(50)).toBeLessThanOrEqual(50);
    expect(await atStripe()).toEqual([4_000]);
    expect(await books()).toBe(MADE);
  });

  it('and that was made though the list does not show it yet is not made again', async () => {
    await harness.simulator.failNextRequests({ ...REFUNDS, when: 'after', stored: true });
    const behind = withProvider({
      listRefunds: () => Promise.resolve({ kind: 'DONE', value: { items: [], hasMore: false } }),
    });
    expect((await ask(behind)).kind).toBe('ProviderUnavailable');
    for (let minute = 0; minute < 60; minute += 1) {
      await harness.advance(MINUTE_MS);
      await sweep(behind);
    }
    expect(await books()).toBe(WAITING);
    expect(await atStripe()).toEqual([4_000]);
    await harness.advance(10 * MINUTE_MS);
    await sweep();
    expect(await atStripe()).toEqual([4_000]);
    expect(await books()).toBe(MADE);
  });

  it('waits while Stripe has given back what nobody has told of, and goes on once it is booked', async () => {
    await harness.simulator.failNextRequests({ ...REFUNDS, stored: true });
    await ask();
    await harness.simulator.dashboardRefund({ paymentIntent: asked.paymentId, amount: 500 });
    await untilSettled(60);
    expect(await atStripe()).toEqual([500]);
    await applyEvents(harness);
    await untilSettled(110);
    expect(await atStripe()).toEqual([4_000, 500]);
    expect(await books()).toBe('refunded, pending, refundable 45 0 55; out 45');
  });

  it('is not made by a process that slept right before it sent the old key', async () => {
    await harness.simulator.resetNextRequests({ ...LOST, count: 2 });
    await ask();
    await harness.advance(LEASE_MS);
    const { createRefund } = harness.ledger.provider;
    const sleepy = withProvider({
      createRefund: async (request) => {
        await harness.simulator.failNextRequests({ ...REFUNDS, stored: true });
        await harness.advance(LEASE_MS);
        await untilSettled(60);
        expect(await atStripe()).toEqual([4_000]);
        return createRefund(request);
      },
    });
    await sweep(sleepy);
    expect(await atStripe()).toEqual([4_000]);
    expect(await books()).toBe(MADE);
  });

  it('is made once where a process takes the new key and sleeps, and another takes over', async () => {
    await harness.simulator.failNextRequests({ ...REFUNDS, stored: true });
    await ask();
    await untilSettled(14);
    const { createRefund } = harness.ledger.provider;
    let sleeps = 0;
    const sleepy = withProvider({
      createRefund: async (request) => {
        sleeps += 1;
        await harness.advance(LEASE_MS);
        await sweep();
        expect(await atStripe()).toEqual([4_000]);
        return createRefund(request);
      },
    });
    await sweep(sleepy);
    expect(sleeps).toBe(1);
    expect(await atStripe()).toEqual([4_000]);
    expect(await books()).toBe(MADE);
  });

  it('is made once by several sweepers and retries that come in the same instant', async () => {
    await harness.simulator.failNextRequests({ ...REFUNDS, stored: true });
    await ask();
    await untilSettled(14);
    const from = harness.calls.length;
    await Promise.all([sweep(), ask(), sweep(), ask()]);
    expect(posts(from)).toBe(1);
    expect(await atStripe()).toEqual([4_000]);
    expect(await books()).toBe(MADE);
  });
});

describe('a refund whose answers are lost on the way', () => {
  it('keeps its key: Stripe has stored nothing that stands in its way', async () => {
    await harness.simulator.resetNextRequests({ ...LOST, count: 60 });
    await ask();
    await untilSettled(20);
    expect(await books()).toBe(WAITING);
    const [{ tries, lookedAtMs } = {}] = await harness.refunds('t_1', 'u_1', asked.orderId);
    expect([tries, lookedAtMs]).toEqual([undefined, undefined]);
    await harness.simulator.calm();
    await untilSettled(60);
    expect(await atStripe()).toEqual([4_000]);
    expect(await books()).toBe(MADE);
  });
});
