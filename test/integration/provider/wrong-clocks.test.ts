import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { epochS, systemClock } from '../../../src/ledger/kernel/clock.ts';
import { idempotencyRecordKey } from '../../../src/ledger/kernel/keys.ts';
import { EVENT_CURSOR_KEY, putEventCursor, readEventCursor } from '../../../src/ledger/items/event-cursor.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { createTableClock } from '../../../src/ledger/table/table-clock.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { sweepEvents } from '../../../src/ledger/usecases/provider-updates/sweep-events.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { type Harness, customer, makeHarness } from '../../support/harness.ts';
import {
  LEASE_MS,
  type ProviderHarness,
  URLS,
  attemptOf,
  checkedOut,
  claimOn,
  makeProviderHarness,
  sessionsMade,
} from './support.ts';

const MINUTE_MS = 60_000;
const HOUR_S = 3_600;
const alice = customer('u_1');

let right: ProviderHarness;
beforeAll(async () => {
  right = await makeProviderHarness({}, { ...systemClock, advance: () => undefined });
});
afterAll(async () => {
  await right.stop();
});

/** Another process on the same table and the same Stripe, whose own clock is ahead by so much. */
async function processAhead(aheadMs: number): Promise<Harness> {
  const tableClock = createTableClock({ nowMs: () => systemClock.nowMs() + aheadMs });
  const { ledger, tableName } = right;
  const endpoint = inject('engineEndpoint');
  const settings = { leaseMs: LEASE_MS };
  return makeHarness({ endpoint, tableName, provider: ledger.provider, tableClock, settings });
}

async function cursor() {
  const [item] = await right.ledger.store.get([EVENT_CURSOR_KEY]);
  return item === undefined ? undefined : readEventCursor(item);
}

describe.each([75, 10, -10, -75])('a process whose clock is %d minutes ahead', (minutes) => {
  it('takes over no live claim, and a checkout has one session', async () => {
    const wrong = await processAhead(minutes * MINUTE_MS);
    const { id, orderId } = await right.openOrder('t_1', 'u_1', '20.00');
    const before = await sessionsMade(right);
    const key = right.key();
    let claimEndMs: number | undefined;
    const leftAlone = {
      ...right.ledger,
      provider: {
        ...right.ledger.provider,
        // While the right process waits for Stripe, the wrong one comes across its claim in every way that there is.
        createSession: async (request: Parameters<typeof right.ledger.provider.createSession>[0]) => {
          claimEndMs = claimOn(await right.order('t_1', 'u_1', orderId)).leaseEndMs;
          const again = await checkout(wrong.ledger, alice, key, { orderId: id, ...URLS });
          expect(again.kind).toBe('IdempotencyInProgress');
          const another = await checkout(wrong.ledger, alice, right.key(), { orderId: id, ...URLS });
          expect(['TransactionConflict', 'IdempotencyInProgress']).toContain(another.kind);
          await sweepOrder(wrong.ledger, { tenant: 't_1', accountId: 'u_1', orderId });
          return right.ledger.provider.createSession(request);
        },
      },
    };
    const outcome = await checkout(leftAlone, alice, key, { orderId: id, ...URLS });
    expect(outcome.kind).toBe('CheckoutSuccess');
    expect(claimEndMs).toBeDefined();
    expect(await sessionsMade(right)).toBe(before + 1);
    expect((await right.order('t_1', 'u_1', orderId)).attempts).toHaveLength(1);
    wrong.close();
  });

  it('claims nothing itself and leaves nothing behind: the same key goes on with another process', async () => {
    const wrong = await processAhead(minutes * MINUTE_MS);
    const { id, orderId } = await right.openOrder('t_1', 'u_1', '20.00');
    const key = right.key();
    const input = { orderId: id, ...URLS };
    expect(await checkout(wrong.ledger, alice, key, input)).toMatchObject({ kind: 'Throttled' });
    const ref = { tenant: 't_1', principal: 'customer/u_1', operation: 'checkout', key };
    expect(await right.ledger.store.get([idempotencyRecordKey(ref)])).toEqual([undefined]);
    expect((await right.order('t_1', 'u_1', orderId)).attempts).toEqual([]);
    expect(await checkout(right.ledger, alice, key, input)).toMatchObject({ kind: 'CheckoutSuccess' });
    wrong.close();
  });

  it('moves no cursor: events whose webhook was lost are healed by others', async () => {
    const wrong = await processAhead(minutes * MINUTE_MS);
    const before = await cursor();
    expect(await sweepEvents(wrong.ledger, { pauseMs: 0 })).toBeUndefined();
    expect(await cursor()).toEqual(before);
    expect(await sweepEvents(right.ledger, { pauseMs: 0 })).toMatchObject({ complete: true });
    const nowS = epochS(systemClock.nowMs());
    const { fromS } = (await cursor()) ?? { fromS: 0 };
    expect(nowS - fromS).toBeGreaterThanOrEqual(HOUR_S);
    expect(nowS - fromS).toBeLessThan(HOUR_S + 60);
    wrong.close();
  });
});

it('writes its leases in the time of the table where its clock is a little off', async () => {
  const nearly = await processAhead(8_000);
  const { id, orderId } = await right.openOrder('t_1', 'u_1', '20.00');
  let endMs = 0;
  const watched = {
    ...nearly.ledger,
    provider: {
      ...right.ledger.provider,
      createSession: async (request: Parameters<typeof right.ledger.provider.createSession>[0]) => {
        endMs = claimOn(await right.order('t_1', 'u_1', orderId)).leaseEndMs ?? 0;
        return right.ledger.provider.createSession(request);
      },
    },
  };
  const beganMs = systemClock.nowMs();
  const outcome = await checkout(watched, alice, right.key(), { orderId: id, ...URLS });
  expect(outcome.kind).toBe('CheckoutSuccess');
  expect(endMs - LEASE_MS).toBeGreaterThan(beganMs - 1_500);
  expect(endMs - LEASE_MS).toBeLessThan(systemClock.nowMs() + 1_500);
  expect((await attemptOf(right, orderId)).state).toBe('OPEN');
  nearly.close();
});

it('a cursor that ran past now is brought back, and what it passed over is healed', async () => {
  const { orderId, sessionId } = await checkedOut(right, '30.00');
  await right.simulator.payByCard({ session: sessionId });
  const nowMs = systemClock.nowMs();
  const before = await cursor();
  const ahead = { fromS: epochS(nowMs) + 15 * 60, notBeforeMs: nowMs + 75 * MINUTE_MS };
  const { ledger } = right;
  const put = putEventCursor(before, { ...ahead, rev: (before?.rev ?? 0) + 1 });
  expect(await commit(ledger, plan(ledger.ids.token(), put))).toMatchObject({ kind: 'COMMITTED' });

  // Events wait two minutes for their webhooks, so this look is taken three minutes later.
  const later = {
    ...ledger,
    clock: { nowMs: () => systemClock.nowMs() + 3 * MINUTE_MS, isRight: () => true },
  };
  expect(await sweepEvents(later, { pauseMs: 0 })).toMatchObject({ left: 0, complete: true });
  expect((await right.order('t_1', 'u_1', orderId)).state).toBe('PAID');
  expect((await cursor())?.fromS).toBeLessThanOrEqual(epochS(later.clock.nowMs()) - HOUR_S);
});
