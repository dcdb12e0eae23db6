import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimAttempt } from '../../../src/ledger/model/provider/attempts.ts';
import { epochS } from '../../../src/ledger/kernel/clock.ts';
import { idempotencyRecordKey } from '../../../src/ledger/kernel/keys.ts';
import { putIdempotencyRecordIfNew } from '../../../src/ledger/items/idempotency-record.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { newLease } from '../../../src/ledger/usecases/provider-calls/complete-claim.ts';
import {
  identify,
  idempotencyRecordOf as newRecord,
} from '../../../src/ledger/usecases/runtime/idempotency.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { updateOrder } from '../../../src/ledger/items/order-writes.ts';
import type { Lease } from '../../../src/ledger/model/orders/order.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { customer } from '../../support/harness.ts';
import {
  LEASE_MS,
  type ProviderHarness,
  URLS,
  applyEvents,
  attemptOf,
  checkedOut,
  makeProviderHarness,
  idempotencyRecordOf,
} from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const alice = customer('u_1');
const SESSIONS = { method: 'POST', path: '/v1/checkout/sessions' } as const;

interface Abandoned {
  readonly id: string;
  readonly orderId: string;
  readonly key: string;
  readonly input: { readonly orderId: string; readonly successUrl: string; readonly cancelUrl: string };
}

/** A checkout whose process died right after its claim: nothing was sent to Stripe, nobody will complete it. */
async function killedAfterClaim(lease: Partial<Pick<Lease, 'leaseEndMs'>> = {}): Promise<Abandoned> {
  const { ledger, clock } = harness;
  const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
  const key = harness.key();
  const ref = { tenant: 't_1', accountId: 'u_1', orderId };
  const request = identify(ledger, alice, 'checkout', key, { order: ref, ...URLS });
  const order = await harness.order('t_1', 'u_1', orderId);
  const nowMs = clock.nowMs();
  const claim: Lease = { ...newLease(ledger, request, nowMs), ...lease };
  const claimed = claimAttempt(
    order,
    { ...URLS, paymentMethodTypes: ['card'] },
    claim,
    nowMs,
    ledger.metadataSeal.seal,
  );
  const token = ledger.ids.token();
  const record = newRecord(ledger, request, token, nowMs, {
    status: 'PROCESSING',
    claimOf: { accountId: 'u_1', orderId },
  });
  const result = await commit(
    ledger,
    plan(
      token,
      putIdempotencyRecordIfNew(request.ref, record, epochS(nowMs)),
      updateOrder(order, claimed, ledger.settings),
    ),
  );
  if (result.kind !== 'COMMITTED') throw new Error(result.kind);
  return { id, orderId, key, input: { orderId: id, ...URLS } };
}

describe('a checkout whose process was killed after the claim', () => {
  it('is in progress until its lease ends; then its key takes it over, once', async () => {
    const { key, input, orderId } = await killedAfterClaim();
    await harness.advance(LEASE_MS - 1_000);
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({
      kind: 'IdempotencyInProgress',
      retryAfterMs: 1_000,
    });
    await harness.advance(2_000);
    const before = harness.calls.length;
    const outcomes = await Promise.all(
      [1, 2, 3, 4, 5].map(() => checkout(harness.ledger, alice, key, input)),
    );
    for (const { kind } of outcomes) expect(['CheckoutSuccess', 'IdempotencyInProgress']).toContain(kind);
    expect(outcomes.filter((outcome) => 'replayed' in outcome && !outcome.replayed)).toHaveLength(1);
    expect(harness.calls.slice(before)).toEqual(['createSession']);
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 1, state: 'OPEN' });
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({
      kind: 'CheckoutSuccess',
      replayed: true,
    });
  });

  it('blocks charge, cancel and another checkout until then, and none of that is stored', async () => {
    await harness.fund('t_1', 'u_1', '20.00');
    const { id, input } = await killedAfterClaim();
    const keys = { charge: harness.key(), cancel: harness.key(), checkout: harness.key() };
    const before = harness.calls.length;
    expect(await charge(harness.ledger, alice, keys.charge, { orderId: id })).toMatchObject({
      kind: 'TransactionConflict',
    });
    expect(await cancelOrder(harness.ledger, alice, keys.cancel, { orderId: id })).toMatchObject({
      kind: 'TransactionConflict',
    });
    expect(await checkout(harness.ledger, alice, keys.checkout, input)).toEqual({
      kind: 'IdempotencyInProgress',
      retryAfterMs: LEASE_MS,
    });
    expect(harness.calls.slice(before)).toEqual([]);
    for (const [operation, key] of Object.entries({
      charge: keys.charge,
      cancelOrder: keys.cancel,
      checkout: keys.checkout,
    })) {
      expect(await idempotencyRecordOf(harness, operation, key)).toBeUndefined();
    }
  });

  it('is completed by another key after its lease, which then answers the same session', async () => {
    const { key, input, orderId } = await killedAfterClaim();
    await harness.advance(LEASE_MS);
    const before = harness.calls.length;
    expect(await checkout(harness.ledger, alice, harness.key(), input)).toMatchObject({
      kind: 'CheckoutSuccess',
      orderId,
      replayed: false,
    });
    expect(harness.calls.slice(before)).toEqual(['createSession']);
    expect((await harness.order('t_1', 'u_1', orderId)).attempts).toHaveLength(1);
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({
      kind: 'CheckoutSuccess',
      replayed: true,
    });
  });

  it('is completed by one of several sweepers and retries that come in the same instant', async () => {
    const { key, input, orderId } = await killedAfterClaim();
    await harness.advance(LEASE_MS);
    const before = harness.calls.length;
    const ref = { tenant: 't_1', accountId: 'u_1', orderId };
    await Promise.all([
      sweepOrder(harness.ledger, ref),
      checkout(harness.ledger, alice, key, input),
      sweepOrder(harness.ledger, ref),
      checkout(harness.ledger, alice, key, input),
    ]);
    expect(harness.calls.slice(before).filter((name) => name === 'createSession')).toHaveLength(1);
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 1, state: 'OPEN' });
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({
      kind: 'CheckoutSuccess',
      accountId: 'u_1',
      orderId,
      replayed: true,
    });
  });

  it('and that nobody asks for again is completed by the sweeper, so that its key is answered later', async () => {
    const { key, input, orderId } = await killedAfterClaim();
    const ref = { tenant: 't_1', accountId: 'u_1', orderId };
    expect(await sweepOrder(harness.ledger, ref)).toBe('NOT_DUE');
    await harness.advance(LEASE_MS);
    expect(await sweepOrder(harness.ledger, ref)).toBe('WAITING');
    expect(await idempotencyRecordOf(harness, 'checkout', key)).toMatchObject({ status: 'COMPLETED' });
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({
      kind: 'CheckoutSuccess',
      replayed: true,
    });
  });

  it('and that is refused when it is taken over stays unknown: whoever asked before may have got a session', async () => {
    const { key, input, orderId } = await killedAfterClaim({ leaseEndMs: 0 });
    const refusal = { status: 400, type: 'invalid_request_error' } as const;
    await harness.simulator.failNextRequests({ ...SESSIONS, count: 1, ...refusal });
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 1, state: 'CLOSED', tries: 0 });
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'CheckoutSuccess' });
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 2, state: 'OPEN' });
  });

  it('with a lease end of 0 may be taken over at once: 0 is a time, not a missing one', async () => {
    const { key, input } = await killedAfterClaim({ leaseEndMs: 0 });
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'CheckoutSuccess' });
  });

  it('without a lease end is locked until its marker expires', async () => {
    const { key, input, orderId } = await killedAfterClaim({ leaseEndMs: undefined });
    const { recordTtlS } = (await attemptOf(harness, orderId)).lease ?? { recordTtlS: 0 };
    await harness.advance(30 * 86_400_000);
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({
      kind: 'IdempotencyInProgress',
      retryAfterMs: 3_600_000,
    });
    await harness.advance((recordTtlS + 1) * 1000 - harness.clock.nowMs());
    // The attempt is long over, and nobody had its page: closed, and a new one made.
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'CheckoutSuccess' });
    expect((await harness.order('t_1', 'u_1', orderId)).attempts.map(({ number }) => number)).toEqual([2]);
  });

  it('and found again when its session would have ended is closed without asking Stripe for it', async () => {
    const { key, input, orderId } = await killedAfterClaim();
    await harness.advance(25 * 3_600_000);
    const before = harness.calls.length;
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    expect(harness.calls.slice(before)).toEqual([]);
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 1, state: 'CLOSED' });
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'CheckoutSuccess' });
  });
});

describe('a checkout whose answer from Stripe is lost', () => {
  it('asks once more with the same key and the same parameters, and gets the session that was made', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    await harness.simulator.resetNextRequests({ ...SESSIONS, count: 1, when: 'after' });
    const before = harness.calls.length;
    expect(await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS })).toMatchObject({
      kind: 'CheckoutSuccess',
    });
    expect(harness.calls.slice(before)).toEqual(['createSession', 'createSession']);
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 1, state: 'OPEN' });
  });

  it('twice: the attempt is over, the key is free, and the next attempt has another number', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    await harness.simulator.resetNextRequests({ ...SESSIONS, count: 2, when: 'after' });
    const input = { orderId: id, ...URLS };
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({
      kind: 'ProviderUnavailable',
      retryAfterMs: 5_000,
    });
    expect(await idempotencyRecordOf(harness, 'checkout', key)).toBeUndefined();
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'CheckoutSuccess' });
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 2, state: 'OPEN' });
  });

  it('and then refused stays unknown: the key is not burnt by an answer that may be of another call', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    await harness.simulator.failNextRequests({ ...SESSIONS, count: 1, status: 500, type: 'api_error' });
    await harness.simulator.failNextRequests({ ...SESSIONS, count: 1, status: 429, type: 'api_error' });
    expect(await checkout(harness.ledger, alice, key, { orderId: id, ...URLS })).toMatchObject({
      kind: 'ProviderUnavailable',
    });
    // Used up, not to be tried again under the same number.
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 1, state: 'CLOSED', tries: 0 });
  });
});

describe('a slow first caller', () => {
  it('loses to whoever took its claim over, and answers what that one completed', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    const input = { orderId: id, ...URLS };
    await harness.simulator.delayNextResponses({ ...SESSIONS, count: 1 });
    const slow = checkout(harness.ledger, alice, key, input);
    await expect.poll(async () => (await harness.simulator.delayedResponses()).waiting).toBe(1);

    await harness.advance(LEASE_MS / 2);
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({
      kind: 'IdempotencyInProgress',
      retryAfterMs: LEASE_MS / 2,
    });
    await harness.advance(LEASE_MS / 2);
    // Stripe still works on the first call with this key: nothing can be known, so the attempt is given up.
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    const second = await checkout(harness.ledger, alice, key, input);
    expect(second).toMatchObject({ kind: 'CheckoutSuccess', replayed: false });
    const { sessionId } = await attemptOf(harness, orderId);

    await harness.simulator.resumeResponses();
    expect(await slow).toEqual({ ...second, replayed: true });
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(order.attempts.map(({ number }) => number)).toEqual([2]);
    expect(order.attempts[0]?.sessionId).toBe(sessionId);
    expect(order.timeline.map(({ cause }) => cause)).toEqual(['CREATED', 'CHECKOUT_OPENED']);
  });
});

describe('money of an earlier session that arrives while a new one is being made', () => {
  it('pays the order: the new session is ended at Stripe, and nobody is given its page', async () => {
    const { ledger, simulator } = harness;
    const { id, orderId, sessionId } = await checkedOut(harness);
    await harness.advance(3_600_000);
    await applyEvents(harness);
    await simulator.delayNextResponses({ ...SESSIONS, count: 1 });
    const key = harness.key();
    const slow = checkout(ledger, alice, key, { orderId: id, ...URLS });
    await expect.poll(async () => (await simulator.delayedResponses()).waiting).toBe(1);
    await simulator.payByCard({ session: sessionId, evenIfExpired: true });
    await applyEvents(harness);
    await simulator.resumeResponses();

    const refused = { kind: 'OrderNotPayable', accountId: 'u_1', orderId, state: 'PAID' };
    expect(await slow).toEqual({ ...refused, replayed: false });
    expect(await checkout(ledger, alice, key, { orderId: id, ...URLS })).toEqual({
      ...refused,
      replayed: true,
    });
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(order.attempts).toMatchObject([{ state: 'CLOSED', sessionId }, { state: 'CLOSED' }]);
    const second = order.attempts[1]?.sessionId ?? '';
    expect(await ledger.provider.retrieveSession(second)).toMatchObject({ value: { status: 'expired' } });
    expect(order.timeline.at(-1)).toMatchObject({ cause: 'PAYMENT_RECEIVED' });
    expect(order.overpayments).toEqual([]);
  });
});

it('a claim whose marker is gone completes its order alone', async () => {
  const { key, input, orderId } = await killedAfterClaim({ leaseEndMs: 0 });
  const ref = { tenant: 't_1', principal: 'customer/u_1', operation: 'checkout', key };
  const item = (names: { readonly uuid: string; readonly type: string }) => ({
    role: 'other' as const,
    item: {
      Delete: {
        Key: { uuid: { S: names.uuid }, type: { S: names.type } },
        ConditionExpression: 'attribute_exists(#uuid)',
        ExpressionAttributeNames: { '#uuid': 'uuid' },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      },
    },
  });
  await commit(
    harness.ledger,
    plan(harness.ledger.ids.token(), { items: [item(idempotencyRecordKey(ref))] }),
  );
  expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({
    kind: 'CheckoutSuccess',
    replayed: false,
  });
  expect((await harness.order('t_1', 'u_1', orderId)).state).toBe('SESSION_CREATED');
  expect((await harness.order('t_1', 'u_1', orderId)).attempts).toHaveLength(1);
});
