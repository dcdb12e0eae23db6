import { describe, expect, it } from 'vitest';
import {
  claimAttempt,
  closeUnopened,
  lockedUntilMs,
  mayTakeOver,
  openSession,
  providerKey,
  sessionParameters,
  takeOver,
} from '../../../../../src/ledger/model/provider/attempts.ts';
import { decimal } from '../../../../../src/ledger/kernel/money.ts';
import {
  type Attempt,
  type Lease,
  type Order,
  openAttempt,
} from '../../../../../src/ledger/model/orders/order.ts';
import { openedOrder } from '../../../../support/sample-orders.ts';

const NOW_MS = 1_900_000_000_123;
const unsealed = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> => texts;

const lease: Lease = {
  owner: 'owner-1',
  leaseEndMs: NOW_MS + 30_000,
  request: { principal: 'u_1', operation: 'checkout', key: 'k1' },
  recordTtlS: 1_907_776_000,
};
const terms = {
  successUrl: 'https://shop.example/paid',
  cancelUrl: 'https://shop.example/back',
  paymentMethodTypes: ['card'],
};
const session = { sessionId: 'cs_1', url: 'https://pay.example/cs_1', expiresAtMs: NOW_MS + 3_600_000 };

function order(changes: Partial<Order> = {}): Order {
  const amount = decimal('1200');
  return {
    ...openedOrder({
      orderId: '01J0000000000000000000000A',
      amount,
      lines: [{ name: 'Coffee', quantity: 1, unitPrice: amount, amount }],
      atMs: NOW_MS,
    }),
    ...changes,
  };
}

function current(of: Order): Attempt {
  const attempt = of.attempts.at(-1);
  if (attempt === undefined) throw new Error('no attempt');
  return attempt;
}

describe('a claim of an attempt', () => {
  it('raises rev and nothing that clients see', () => {
    const claimed = claimAttempt(order(), terms, lease, NOW_MS, unsealed);
    expect([claimed.rev, claimed.version, claimed.state]).toEqual([2, 1, 'CREATED']);
    expect(openAttempt(claimed)).toMatchObject({ number: 1, state: 'CLAIMED', tries: 0, lease });
  });

  it('freezes an end in whole seconds, an hour from now', () => {
    expect(current(claimAttempt(order(), terms, lease, NOW_MS, unsealed)).expiresAtMs).toBe(
      1_900_003_600_000,
    );
  });

  it('after a definite failure tries the same attempt again under the next key', () => {
    const failed = closeUnopened(
      claimAttempt(order(), terms, lease, NOW_MS, unsealed),
      current(claimAttempt(order(), terms, lease, NOW_MS, unsealed)),
      NOW_MS,
      true,
    );
    const again = claimAttempt(failed, terms, lease, NOW_MS, unsealed);
    expect(again.attempts.map(({ number, tries }) => [number, tries])).toEqual([[1, 1]]);
    const first = sessionParameters(failed, { ...current(failed), tries: 0 }, []).idempotencyKey;
    expect(sessionParameters(again, current(again), []).idempotencyKey).not.toBe(first);
  });

  it('after an unknown outcome takes a new number, and keeps no attempt that nobody could pay', () => {
    const claimed = claimAttempt(order(), terms, lease, NOW_MS, unsealed);
    const unknown = closeUnopened(claimed, current(claimed), NOW_MS, false);
    const next = claimAttempt(unknown, terms, lease, NOW_MS, unsealed);
    expect(next.attempts.map(({ number, tries }) => [number, tries])).toEqual([[2, 0]]);
  });

  it('keeps every attempt that had a session', () => {
    const claimed = claimAttempt(order(), terms, lease, NOW_MS, unsealed);
    const opened = openSession(claimed, current(claimed), session, { actor: 'alice', atMs: NOW_MS });
    const expired: Order = {
      ...opened,
      state: 'EXPIRED',
      attempts: opened.attempts.map((attempt) => ({ ...attempt, state: 'CLOSED' })),
    };
    const next = claimAttempt(expired, terms, lease, NOW_MS, unsealed);
    expect(next.attempts.map(({ number, sessionId }) => [number, sessionId])).toEqual([
      [1, 'cs_1'],
      [2, undefined],
    ]);
  });
});

describe('what is sent to the provider for an attempt', () => {
  it('is the same whenever it is sent: of frozen parameters and facts alone', () => {
    const claimed = claimAttempt(order(), terms, lease, NOW_MS, unsealed);
    expect(sessionParameters(claimed, current(claimed), [])).toEqual({
      idempotencyKey: providerKey(claimed, 'session', '1', 0),
      orderId: 'alice/01J0000000000000000000000A',
      metadata: {
        tenant: 'demo',
        order_id: 'alice/01J0000000000000000000000A',
        attempt: '1',
        h_kind: 'PURCHASE',
        h_currency: 'JPY',
        h_amount: '1200',
        h_actor: 'alice',
        h_merchant: 'cafe',
        h_l1: '*1*1200',
      },
      currency: 'JPY',
      lines: [{ name: 'Coffee', quantity: 1, unitAmountMinor: 1200 }],
      merchantMetadata: {},
      ...terms,
      expiresAtS: 1_900_003_600,
    });
    const later: Order = { ...claimed, rev: 9, updatedAtMs: NOW_MS + 1 };
    expect(sessionParameters(later, current(later), [])).toEqual(
      sessionParameters(claimed, current(claimed), []),
    );
  });

  it.each([
    ['USD', '19.99', 1999],
    ['KWD', '18.600', 18600],
    ['ISK', '500', 50000],
  ])('is %s %s as %i', (currency, amount, minor) => {
    const priced = order({ currency, amount: decimal(amount) });
    const claimed = claimAttempt(priced, terms, lease, NOW_MS, unsealed);
    expect(sessionParameters(claimed, current(claimed), []).lines[0]?.unitAmountMinor).toBe(minor);
  });

  it('has a key of its own for every tenant, order, operation, part and try', () => {
    const ref = { tenant: 'demo', accountId: 'alice', orderId: '01J0000000000000000000000A' };
    const keys = [
      providerKey(ref, 'session', '1', 0),
      providerKey({ ...ref, tenant: 'other' }, 'session', '1', 0),
      providerKey({ ...ref, accountId: 'bob' }, 'session', '1', 0),
      providerKey({ ...ref, orderId: '01J0000000000000000000000B' }, 'session', '1', 0),
      providerKey(ref, 'refund', '1', 0),
      providerKey(ref, 'session', '2', 0),
      providerKey(ref, 'session', '1', 1),
      providerKey(ref, 'session', '11', 0),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys[0]).toBe(providerKey({ ...ref }, 'session', '1', 0));
  });
});

describe('a takeover', () => {
  const to = { owner: 'owner-2', leaseEndMs: NOW_MS + 60_000 };
  const claimed = claimAttempt(order(), terms, lease, NOW_MS, unsealed);

  it('waits for the end of the lease, to the millisecond', () => {
    expect(takeOver(claimed, 'owner-1', to, NOW_MS + 29_999)).toBeUndefined();
    const taken = takeOver(claimed, 'owner-1', to, NOW_MS + 30_000);
    expect(taken?.attempts[0]?.lease).toEqual({ ...lease, ...to });
    expect(taken?.rev).toBe(claimed.rev + 1);
  });

  it('is of the owner that was read, not of whoever has it by now', () => {
    const taken = takeOver(claimed, 'owner-1', to, NOW_MS + 30_000);
    expect(taken && takeOver(taken, 'owner-1', to, NOW_MS + 90_000)).toBeUndefined();
  });

  it('of a lease end of 0 may be at once; without a lease end only when the marker has expired', () => {
    expect(mayTakeOver({ ...lease, leaseEndMs: 0 }, NOW_MS)).toBe(true);
    const endless: Lease = { ...lease, leaseEndMs: undefined };
    expect(lockedUntilMs(endless)).toBe(1_907_776_000_000);
    expect(mayTakeOver(endless, 1_907_775_999_999)).toBe(false);
    expect(mayTakeOver(endless, 1_907_776_000_000)).toBe(true);
  });
});
