import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { customer, merchant } from '../../support/harness.ts';
import {
  LEASE_MS,
  type ProviderHarness,
  URLS,
  attemptOf,
  makeProviderHarness,
  paidByCard,
  sessionsMade,
} from './support.ts';

/** A process that sleeps between its claim and its first POST: somebody else has settled the claim when it wakes. */

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

/** The same ledger in a process that sleeps right after its next commit. */
function asleepAfterClaim(meanwhile: () => Promise<void>): Ledger {
  const { ledger } = harness;
  let hasSlept = false;
  return {
    ...ledger,
    transactor: {
      ...ledger.transactor,
      commit: async (...args) => {
        const result = await ledger.transactor.commit(...args);
        if (!hasSlept) {
          hasSlept = true;
          await meanwhile();
        }
        return result;
      },
    },
  };
}

async function refundsMade(paymentId: string): Promise<readonly number[]> {
  const listed = await harness.ledger.provider.listRefunds({ paymentId, limit: 100 });
  if (listed.kind !== 'DONE') throw new Error(listed.kind);
  return listed.value.items.map(({ amountMinor }) => amountMinor);
}

describe('a process that sleeps between its claim and its call of the provider', () => {
  it('refunds nothing a second time, though the provider has forgotten the key', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '100.00');
    const key = harness.key();
    const sleepy = asleepAfterClaim(async () => {
      await harness.advance(LEASE_MS);
      await sweepOrder(harness.ledger, { tenant: 't_1', accountId: 'u_1', orderId });
      expect(await refundsMade(paymentId)).toEqual([4_000]);
      await harness.advance(26 * 3_600_000);
    });
    const input = { orderId: id, amount: '40.00' };
    expect((await refund(sleepy, merchant(), key, input)).kind).toBe('RefundSuccess');
    expect(await refundsMade(paymentId)).toEqual([4_000]);
    expect(await refund(harness.ledger, merchant(), key, input)).toMatchObject({
      kind: 'RefundSuccess',
      replayed: true,
    });
    const order = await harness.order('t_1', 'u_1', orderId);
    expect([order.refunded.toFixed(), order.refundable.toFixed()]).toEqual(['40', '60']);
  });

  it('makes no second session, and answers what the other process made', async () => {
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '20.00');
    const made = await sessionsMade(harness);
    const key = harness.key();
    const sleepy = asleepAfterClaim(async () => {
      await harness.advance(LEASE_MS);
      await sweepOrder(harness.ledger, { tenant: 't_1', accountId: 'u_1', orderId });
    });
    const before = harness.calls.length;
    const input = { orderId: id, ...URLS };
    expect((await checkout(sleepy, customer('u_1'), key, input)).kind).toBe('CheckoutSuccess');
    expect(harness.calls.slice(before).filter((call) => call === 'createSession')).toHaveLength(1);
    expect(await sessionsMade(harness)).toBe(made + 1);
    expect((await attemptOf(harness, orderId)).state).toBe('OPEN');
  });

  it('and whose claim nobody took gives it up: nothing is sent, and the key works at once', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '100.00');
    const key = harness.key();
    const sleepy = asleepAfterClaim(() => harness.advance(LEASE_MS));
    const input = { orderId: id, amount: '40.00' };
    expect((await refund(sleepy, merchant(), key, input)).kind).toBe('ProviderUnavailable');
    expect(await refundsMade(paymentId)).toEqual([]);
    expect((await refund(harness.ledger, merchant(), key, input)).kind).toBe('RefundSuccess');
    expect(await refundsMade(paymentId)).toEqual([4_000]);
    expect((await harness.order('t_1', 'u_1', orderId)).refunded.toFixed()).toBe('40');
  });
});
