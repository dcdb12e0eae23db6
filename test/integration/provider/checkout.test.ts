import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { customer } from '../../support/harness.ts';
import {
  type ProviderHarness,
  URLS,
  attemptOf,
  checkedOut,
  makeProviderHarness,
  idempotencyRecordOf,
  sessionOf,
} from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const alice = customer('u_1');

describe('a checkout', () => {
  it('opens a payment page for exactly the amount of the order', async () => {
    const { orderId, sessionId } = await checkedOut(harness, '19.99');
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(order.state).toBe('SESSION_CREATED');
    expect(order.timeline.map(({ cause }) => cause)).toEqual(['CREATED', 'CHECKOUT_OPENED']);
    expect(order.attempts).toHaveLength(1);
    expect(order.attempts[0]).toMatchObject({ number: 1, state: 'OPEN', tries: 0, sessionId });
    expect(order.attempts[0]?.lease).toBeUndefined();
    expect(order.attempts[0]?.url).toMatch(/^http/);
    const session = await harness.ledger.provider.retrieveSession(sessionId);
    expect(session).toMatchObject({
      kind: 'DONE',
      value: {
        amountMinor: 1999,
        currency: 'USD',
        metadata: { tenant: 't_1', orderId: `u_1/${orderId}`, attempt: 1 },
      },
    });
  });

  it('sends 500 for 500 JPY, never 50000', async () => {
    const { id, orderId } = await harness.openOrder('demo', 'yen', '500');
    const outcome = await checkout(harness.ledger, customer('yen', 'demo'), harness.key(), {
      orderId: id,
      ...URLS,
    });
    expect(outcome.kind).toBe('CheckoutSuccess');
    const order = await harness.order('demo', 'yen', orderId);
    const session = await harness.ledger.provider.retrieveSession(order.attempts[0]?.sessionId ?? '');
    expect(session).toMatchObject({ kind: 'DONE', value: { amountMinor: 500, currency: 'JPY' } });
  });

  it('repeated five times with its key asks Stripe once and gives one answer', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    const input = { orderId: id, ...URLS };
    const before = harness.calls.length;
    const first = await checkout(harness.ledger, alice, key, input);
    expect(first).toEqual({ kind: 'CheckoutSuccess', accountId: 'u_1', orderId, replayed: false });
    for (let times = 0; times < 4; times += 1) {
      expect(await checkout(harness.ledger, alice, key, input)).toEqual({ ...first, replayed: true });
    }
    expect(harness.calls.slice(before)).toEqual(['createSession']);
    expect(await idempotencyRecordOf(harness, 'checkout', key)).toMatchObject({ status: 'COMPLETED' });
  });

  it('under a new key answers the session that is open, instead of making a second one', async () => {
    const { id, orderId, sessionId } = await checkedOut(harness);
    const before = harness.calls.length;
    const again = await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS });
    expect(again).toEqual({ kind: 'CheckoutSuccess', accountId: 'u_1', orderId, replayed: false });
    expect(harness.calls.slice(before)).toEqual([]);
    expect(await sessionOf(harness, orderId)).toBe(sessionId);
  });

  it('beside another one in the same instant: one session, the other waits or gets the same', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const input = { orderId: id, ...URLS };
    const before = harness.calls.length;
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map(() => checkout(harness.ledger, alice, harness.key(), input)),
    );
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds).toContain('CheckoutSuccess');
    for (const kind of kinds) {
      expect(['CheckoutSuccess', 'IdempotencyInProgress', 'TransactionConflict']).toContain(kind);
    }
    expect(harness.calls.slice(before)).toEqual(['createSession']);
    expect((await harness.order('t_1', 'u_1', orderId)).attempts).toHaveLength(1);
  });

  it('with the same key and another URL is refused, and leaks nothing', async () => {
    const { id } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    await checkout(harness.ledger, alice, key, { orderId: id, ...URLS });
    const other = await checkout(harness.ledger, alice, key, {
      orderId: id,
      ...URLS,
      cancelUrl: 'https://shop.example/elsewhere',
    });
    expect(other).toEqual({ kind: 'IdempotencyKeyReused' });
  });

  it('to a URL that the tenant does not list is refused before Stripe is asked, and the key stays usable', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    const before = harness.calls.length;
    const evil = await checkout(harness.ledger, alice, key, {
      orderId: id,
      ...URLS,
      successUrl: 'https://shop.example.evil.test/paid',
    });
    expect(evil).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['successUrl'], code: 'url_not_allowed' }],
    });
    expect(harness.calls.slice(before)).toEqual([]);
    const good = await checkout(harness.ledger, alice, key, { orderId: id, ...URLS });
    expect(good).toMatchObject({ kind: 'CheckoutSuccess', orderId });
  });

  it("of somebody else's order looks like an order that isn't there", async () => {
    const { id } = await harness.openOrder('t_1', 'u_1', '20.00');
    expect(await checkout(harness.ledger, customer('u_2'), harness.key(), { orderId: id, ...URLS })).toEqual({
      kind: 'NotFound',
    });
  });

  it('of an order that is paid is refused, also under the same key later', async () => {
    await harness.fund('t_1', 'u_1', '20.00');
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    await charge(harness.ledger, alice, harness.key(), { orderId: id });
    const key = harness.key();
    const before = harness.calls.length;
    const refused = { kind: 'OrderNotPayable', accountId: 'u_1', orderId, state: 'PAID' };
    const input = { orderId: id, ...URLS };
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({ ...refused, replayed: false });
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({ ...refused, replayed: true });
    expect(harness.calls.slice(before)).toEqual([]);
  });
});

describe('a checkout that Stripe does not carry out', () => {
  const checkoutPath = { method: 'POST', path: '/v1/checkout/sessions' } as const;

  it('refused: the answer sticks to the key, and a new key tries the same attempt again under another try', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    const input = { orderId: id, ...URLS };
    await harness.simulator.failNextRequests({
      ...checkoutPath,
      count: 1,
      status: 400,
      type: 'invalid_request_error',
      code: 'amount_too_small',
    });
    const refused = { kind: 'ProviderRefused', code: 'amount_too_small' };
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({ ...refused, replayed: false });
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({ ...refused, replayed: true });
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 1, state: 'CLOSED', tries: 1 });
    expect((await harness.order('t_1', 'u_1', orderId)).state).toBe('CREATED');

    expect(await checkout(harness.ledger, alice, harness.key(), input)).toMatchObject({
      kind: 'CheckoutSuccess',
    });
    expect((await harness.order('t_1', 'u_1', orderId)).attempts).toHaveLength(1);
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 1, state: 'OPEN', tries: 1 });
  });

  it('unavailable: nothing is stored, and the same key succeeds later', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    const input = { orderId: id, ...URLS };
    await harness.simulator.failNextRequests({ ...checkoutPath, count: 1, status: 429, type: 'api_error' });
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    expect(await idempotencyRecordOf(harness, 'checkout', key)).toBeUndefined();
    expect(await attemptOf(harness, orderId)).toMatchObject({ state: 'CLOSED', tries: 1 });
    expect(await checkout(harness.ledger, alice, key, input)).toEqual({
      kind: 'CheckoutSuccess',
      accountId: 'u_1',
      orderId,
      replayed: false,
    });
  });

  it('again and again does not use up the attempts of the order', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    const input = { orderId: id, ...URLS };
    await harness.simulator.failNextRequests({ ...checkoutPath, count: 6, status: 500, type: 'api_error' });
    for (let times = 0; times < 3; times += 1) {
      expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({
        kind: 'ProviderUnavailable',
      });
    }
    expect((await harness.order('t_1', 'u_1', orderId)).attempts).toHaveLength(1);
    expect(await checkout(harness.ledger, alice, key, input)).toMatchObject({ kind: 'CheckoutSuccess' });
    // An unknown outcome uses up its number: a session that Stripe may have made can't be taken for this one.
    expect(await attemptOf(harness, orderId)).toMatchObject({ number: 4, state: 'OPEN', tries: 0 });
  });
});
