import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type FollowUp,
  type FollowUpTrigger,
  createRegistry,
  followUpsOf,
  readStepName,
  stepName,
} from '../../../src/fulfilment/follow-up.ts';
import { merchantPayload } from '../../../src/fulfilment/merchant-payload.ts';
import { DEFAULT_POST_LIMITS, notifyMerchant } from '../../../src/fulfilment/notify-merchant.ts';
import { runStep, stepKey } from '../../../src/fulfilment/run-step.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import { decodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { type Order, overpaymentStepName } from '../../../src/ledger/model/orders/order.ts';
import { parseTenants } from '../../../src/config/tenants.ts';
import { PAID_AT_MS, paidOrder } from './orders.ts';

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
  tenants: TENANTS,
  clock: { nowMs: () => PAID_AT_MS },
  limits: DEFAULT_POST_LIMITS,
});

describe("a step's name", () => {
  it.each<[string, FollowUpTrigger]>([
    ['notify-merchant:paid', { kind: 'paid' }],
    [
      'notify-merchant:refunded:01K9ZZZZZZZZZZZZZZZZZZZZZZ',
      { kind: 'refunded', refundId: '01K9ZZZZZZZZZZZZZZZZZZZZZZ' },
    ],
    ['notify-merchant:refunded:a:b', { kind: 'refunded', refundId: 'a:b' }],
    ['notify-merchant:disputed:dp_1', { kind: 'disputed', disputeId: 'dp_1' }],
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
    expect(followUps.afterPaid(order)).toEqual(['notify-merchant:paid']);
    expect(followUps.afterRefund(order, 'r1')).toEqual(['notify-merchant:refunded:r1', 'stock:refunded:r1']);
    expect(followUps.afterDispute(order, 'dp_1')).toEqual(['notify-merchant:disputed:dp_1']);
    expect(followUps.afterPaid({ ...order, merchantId: 'm_2' })).toEqual([]);
    expect(followUps.afterPaid({ ...order, tenant: 'gone' })).toEqual([]);
    expect(followUps.afterPaid({ ...order, merchantId: 'm_9' })).toEqual([]);
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
    await runStep(registry, order, 'probe:paid', limits);
    await runStep(registry, { ...order, rev: 99, version: 7 }, 'probe:paid', limits);
    await runStep(registry, order, 'probe:refunded:r1', limits);
    await runStep(registry, { ...order, accountId: 'u_2' }, 'probe:paid', limits);
    await runStep(registry, { ...order, tenant: 't_2' }, 'probe:paid', limits);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[0]).toBe(stepKey(order, 'probe:paid'));
    expect(new Set(keys).size).toBe(4);
  });

  it('that throws is tried again, and its message is kept without what nobody may see', async () => {
    const registry = running(() => Promise.reject(new TypeError('no receipt for hanako@example.jp')));
    expect(await runStep(registry, paidOrder(), 'probe:paid', limits)).toEqual({
      kind: 'RETRY',
      reason: 'TypeError: no receipt for [redacted]',
    });
  });

  it('that throws before it gives a promise is tried again too', async () => {
    const registry = running(() => {
      throw new Error('at once');
    });
    expect(await runStep(registry, paidOrder(), 'probe:paid', limits)).toEqual({
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
    expect(await runStep(registry, paidOrder(), 'probe:paid', limits)).toEqual({
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
    const run = runStep(registry, paidOrder(), 'probe:paid', {
      runTimeoutMs: 60_000,
      stopping: stopping.signal,
    });
    expect(await run).toEqual({ kind: 'RELEASED' });
  });

  it('of a follow-up that is not deployed waits for the deployment that has it', async () => {
    expect(await runStep(new Map(), paidOrder(), 'stock:paid', limits)).toEqual({
      kind: 'RETRY',
      reason: 'no follow-up of this name is registered',
    });
  });
});

describe('what a merchant is told', () => {
  it('of a paid order', () => {
    const payload = merchantPayload(paidOrder('notify-merchant:paid'), { kind: 'paid' });
    expect(payload).toEqual({
      type: 'order.paid',
      timestamp: '2030-03-17T17:46:40.000Z',
      data: {
        orderId: payload.data.orderId,
        version: 2,
        state: 'PAID',
        merchantId: 'm_1',
        currency: 'USD',
        amount: '12.50',
        refundedAmount: '0.00',
        refundPendingAmount: '0.00',
        refundableAmount: '12.50',
        disputed: false,
      },
    });
    expect(decodeNodeId(payload.data.orderId)).toEqual({
      kind: 'Order',
      parts: ['t_1', 'u_1', '01K9ZZZZZZZZZZZZZZZZZZZZZZ'],
    });
  });

  it('of a refund and of a dispute: the order as it is now, and the one that it is about', () => {
    const order: Order = {
      ...paidOrder(),
      version: 9,
      refunded: decimal('2.5'),
      refundable: decimal('10'),
      refunds: [
        {
          refundId: 're_1',
          amount: decimal('2.5'),
          state: 'SUCCEEDED',
          source: 'DASHBOARD',
          actor: 'stripe',
          createdAtMs: PAID_AT_MS + 60_000,
          tries: 0,
        },
      ],
      disputes: [
        {
          disputeId: 'dp_1',
          paymentId: 'pi_1',
          status: 'open',
          amount: decimal('12.5'),
          recorded: false,
          ofOverpayment: false,
        },
      ],
    };
    expect(merchantPayload(order, { kind: 'refunded', refundId: 're_1' })).toMatchObject({
      type: 'order.refunded',
      timestamp: '2030-03-17T17:47:40.000Z',
      data: {
        version: 9,
        refundedAmount: '2.50',
        refundableAmount: '0.00',
        disputed: true,
        refund: { amount: '2.50', state: 'SUCCEEDED' },
      },
    });
    expect(merchantPayload(order, { kind: 'disputed', disputeId: 'dp_1' })).toMatchObject({
      type: 'order.disputed',
      data: { dispute: { disputeId: 'dp_1', amount: '12.50', status: 'open' } },
    });
  });

  it('has the fields that docs/FOLLOW-UPS.md shows, and no others', () => {
    const page = readFileSync(new URL('../../../docs/FOLLOW-UPS.md', import.meta.url), 'utf8');
    const shown = /^\{\n {2}"type"[\s\S]*?^\}$/m.exec(page)?.[0] ?? '';
    const documented = JSON.parse(shown) as { readonly data: object };
    const payload = merchantPayload(paidOrder(), { kind: 'paid' });
    expect(Object.keys(documented)).toEqual(Object.keys(payload));
    expect(Object.keys(documented.data)).toEqual(Object.keys(payload.data));
  });

  it('holds nothing about the customer beside what the public id carries', () => {
    const text = JSON.stringify(merchantPayload(paidOrder(), { kind: 'paid' }));
    expect(text).not.toContain('u_1');
  });
});
