import { describe, expect, it } from 'vitest';
import {
  type FollowUp,
  createRegistry,
  followUpsOf,
  readStepName,
  stepName,
} from '../../../src/fulfilment/follow-up.ts';
import { DEFAULT_POST_LIMITS, notifyMerchant } from '../../../src/fulfilment/notify-merchant.ts';
import { runStep, stepKey } from '../../../src/fulfilment/run-step.ts';
import type { FollowUpTrigger } from '../../../src/ledger/model/orders/follow-up-trigger.ts';
import { type Order, type Refund, overpaymentStepName } from '../../../src/ledger/model/orders/order.ts';
import { parseTenants } from '../../../src/config/tenants.ts';
import { sampleRefund } from '../../support/sample-orders.ts';
import { PAID_AT_MS, paidOrder } from './orders.ts';

const noRefund = (): Promise<undefined> => Promise.resolve(undefined);

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const TENANTS = parseTenants(
  {
    t_1: {
      name: 'One',
      currency: 'USD',
      assets: {},
      paymentMethods: ['card'],
      returnUrls: [],
      merchants: {
        m_1: { name: 'Told', notifyUrl: 'https://shop.example/hook', notifySecrets: [SECRET] },
        m_2: { name: 'Not told' },
      },
    },
  },
  { production: true },
);
const notify = notifyMerchant({
  readMetadata: () => Promise.resolve([]),
  tenants: TENANTS,
  clock: { nowMs: () => PAID_AT_MS },
  limits: DEFAULT_POST_LIMITS,
});

describe("a step's name", () => {
  it.each<[string, FollowUpTrigger]>([
    ['notify-merchant:paid', { kind: 'paid' }],
    [
      'notify-merchant:refunded:01K9ZZZZZZZZZZZZZZZZZZZZZZ:1900000000000',
      { kind: 'refunded', refundId: '01K9ZZZZZZZZZZZZZZZZZZZZZZ', atMs: PAID_AT_MS },
    ],
    ['notify-merchant:refund-failed:a:b:7', { kind: 'refund-failed', refundId: 'a:b', atMs: 7 }],
    ['notify-merchant:disputed:dp_1:7', { kind: 'disputed', disputeId: 'dp_1', atMs: 7 }],
    ['notify-merchant:dispute-won:dp_1:7', { kind: 'dispute-won', disputeId: 'dp_1', atMs: 7 }],
    ['notify-merchant:dispute-lost:dp_1:7', { kind: 'dispute-lost', disputeId: 'dp_1', atMs: 7 }],
    ['notify-merchant:failed:7', { kind: 'failed', atMs: 7 }],
    ['notify-merchant:expired:7', { kind: 'expired', atMs: 7 }],
    ['notify-merchant:canceled:7', { kind: 'canceled', atMs: 7 }],
    ['notify-merchant:pi_1', { kind: 'overpayment', paymentId: 'pi_1' }],
  ])('%s says which follow-up and what it follows', (name, trigger) => {
    expect(stepName('notify-merchant', trigger)).toBe(name);
    expect(readStepName(name)).toEqual({ followUpName: 'notify-merchant', trigger });
  });

  it('is read as the ledger gives it to a surplus payment', () => {
    expect(readStepName(overpaymentStepName('pi_9'))).toEqual({
      followUpName: 'refund-surplus',
      trigger: { kind: 'overpayment', paymentId: 'pi_9' },
    });
  });
});

describe('a registry', () => {
  const named = (name: string): FollowUp => ({ ...notify, name });

  it.each(['Receipt', 'a:b', '', 'a b', '1st'])('refuses the name "%s"', (name) => {
    expect(() => createRegistry(named(name))).toThrow(RangeError);
  });

  it('refuses two follow-ups of one name', () => {
    expect(() => createRegistry(named('receipt'), named('receipt'))).toThrow(RangeError);
  });

  it('gives an order the steps of what applies to it, and no others', () => {
    const onlyRefunds: FollowUp = { ...named('stock'), appliesTo: ({ kind }) => kind === 'refunded' };
    const followUps = followUpsOf(createRegistry(notify, onlyRefunds), TENANTS);
    const order = paidOrder();
    expect(followUps({ kind: 'paid' }, order)).toEqual(['notify-merchant:paid']);
    expect(followUps({ kind: 'refunded', refundId: 'r1', atMs: 7 }, order)).toEqual([
      'notify-merchant:refunded:r1:7',
      'stock:refunded:r1:7',
    ]);
    expect(followUps({ kind: 'expired', atMs: 7 }, order)).toEqual(['notify-merchant:expired:7']);
    for (const other of [{ merchantId: 'm_2' }, { tenant: 'gone' }, { merchantId: 'm_9' }])
      expect(followUps({ kind: 'paid' }, { ...order, ...other })).toEqual([]);
  });
});

describe('a run', () => {
  const limits = { runTimeoutMs: 30, stopping: new AbortController().signal };
  const running = (run: FollowUp['run']) => createRegistry({ name: 'probe', appliesTo: () => true, run });

  it('gets a key that is the same on every attempt and no other step has', async () => {
    const keys: string[] = [];
    const registry = running(({ key }) => {
      keys.push(key);
      return Promise.resolve({ kind: 'DONE' });
    });
    const order = paidOrder();
    await runStep(registry, order, 'probe:paid', limits, noRefund);
    await runStep(registry, { ...order, rev: 99, version: 7 }, 'probe:paid', limits, noRefund);
    await runStep(registry, order, 'probe:refunded:r1', limits, noRefund);
    await runStep(registry, { ...order, accountId: 'u_2' }, 'probe:paid', limits, noRefund);
    await runStep(registry, { ...order, tenant: 't_2' }, 'probe:paid', limits, noRefund);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[0]).toBe(stepKey(order, 'probe:paid'));
    expect(new Set(keys).size).toBe(4);
  });

  it('that throws is tried again, and its message is kept without what nobody may see', async () => {
    const registry = running(() => Promise.reject(new TypeError('no receipt for hanako@example.jp')));
    expect(await runStep(registry, paidOrder(), 'probe:paid', limits, noRefund)).toEqual({
      kind: 'RETRY',
      reason: 'TypeError: no receipt for [redacted]',
    });
  });

  it('that throws before it gives a promise is tried again too', async () => {
    const registry = running(() => {
      throw new Error('at once');
    });
    expect(await runStep(registry, paidOrder(), 'probe:paid', limits, noRefund)).toEqual({
      kind: 'RETRY',
      reason: 'Error: at once',
    });
  });

  it('that neither ends nor listens to its signal is given up when its time is over', async () => {
    let seen: AbortSignal | undefined;
    const registry = running(({ signal }) => {
      seen = signal;
      return new Promise(() => undefined);
    });
    expect(await runStep(registry, paidOrder(), 'probe:paid', limits, noRefund)).toEqual({
      kind: 'RETRY',
      reason: 'not done within 30 ms',
    });
    expect(seen?.aborted).toBe(true);
  });

  it('is given back when the worker stops, whatever the run makes of it', async () => {
    const stopping = new AbortController();
    const registry = running(({ signal }) => {
      const ended = new Promise<{ readonly kind: 'RETRY'; readonly reason: string }>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve({ kind: 'RETRY', reason: 'aborted' });
        });
      });
      stopping.abort();
      return ended;
    });
    const slow = { runTimeoutMs: 60_000, stopping: stopping.signal };
    const run = runStep(registry, paidOrder(), 'probe:paid', slow, noRefund);
    expect(await run).toEqual({ kind: 'RELEASED' });
  });

  it('gets the refund that it follows, as it is then', async () => {
    const seen: unknown[] = [];
    const registry = running(({ refund }) => {
      seen.push(refund?.refundId);
      return Promise.resolve({ kind: 'DONE' });
    });
    const readRefund = (_order: Order, refundId: string): Promise<Refund> =>
      Promise.resolve(sampleRefund(refundId, '1'));
    await runStep(registry, paidOrder(), 'probe:refunded:r1:5', limits, readRefund);
    await runStep(registry, paidOrder(), 'probe:paid', limits, readRefund);
    expect(seen).toEqual(['r1', undefined]);
  });

  it('of a follow-up that is not deployed waits for the deployment that has it', async () => {
    expect(await runStep(new Map(), paidOrder(), 'stock:paid', limits, noRefund)).toEqual({
      kind: 'RETRY',
      reason: 'no follow-up of this name is registered',
    });
  });
});
