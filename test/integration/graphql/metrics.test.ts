import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type StripeSimulator, startStripeSimulator } from '../../../dev/stripe-simulator/server.ts';
import { ChargeDocument, CheckoutDocument } from '../../support/generated/documents.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import type { Fault } from '../../support/faults.ts';
import { ALICE, type Gateway, dataOf, startGateway } from '../../support/gateway.ts';
import { ownedClock } from '../../support/owned-time.ts';
import { fund, openOrder } from './money.ts';

/** What a gateway tells at /metrics of what happened to its orders, its table and its provider. */

let gateway: Gateway;
let proxy: FaultProxy;
let simulator: StripeSimulator;
beforeAll(async () => {
  const clock = ownedClock();
  proxy = await startFaultProxy({ target: inject('engineEndpoint') });
  simulator = await startStripeSimulator({
    secretKey: 'sk_test_0123456789',
    webhookSecret: 'whsec_test_0123456789abcdef',
    clock,
    seed: 'metrics',
  });
  gateway = await startGateway({
    endpoint: proxy.endpoint,
    environment: {
      STRIPE_SECRET_KEY: 'sk_test_0123456789',
      STRIPE_WEBHOOK_SECRETS: 'whsec_test_0123456789abcdef',
      STRIPE_API_BASE: simulator.url,
    },
    overrides: { clock },
  });
  await fund(gateway, ALICE, '100.00');
});
afterEach(() => {
  proxy.calm();
});
afterAll(async () => {
  await gateway.close();
  await simulator.close();
  await proxy.stop();
});

/** A sample at /metrics; 0 where there is none yet. */
async function sample(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? 0 : Number.parseInt(line.slice(name.length), 10);
}

/** How much each sample rose while something was done. */
async function rises(names: readonly string[], act: () => Promise<unknown>): Promise<readonly number[]> {
  const before = await Promise.all(names.map(sample));
  await act();
  return Promise.all(names.map(async (name, index) => (await sample(name)) - (before[index] ?? 0)));
}

async function charge(orderId: string, key = gateway.key()): Promise<string> {
  return dataOf(await gateway.run(ALICE, ChargeDocument, { key, input: { orderId } })).charge.__typename;
}

async function checkout(orderId: string): Promise<string> {
  const input = { orderId, successUrl: 'https://shop.example/ok', cancelUrl: 'https://shop.example/no' };
  const answer = await gateway.run(ALICE, CheckoutDocument, { key: gateway.key(), input });
  return dataOf(answer).checkout.__typename;
}

const CREATED = 'hitotsu_transition_total{cause="CREATED"}';
const CHARGED = 'hitotsu_transition_total{cause="WALLET_CHARGED"}';
const UNKNOWN = 'hitotsu_transaction_unknown_total{operation="charge"}';

describe('transitions', () => {
  it('are counted by their cause, once each, and not again by a replay', async () => {
    const key = gateway.key();
    const risen = await rises([CREATED, CHARGED], async () => {
      const id = await openOrder(gateway, ALICE, '5.00');
      expect(await charge(id, key)).toBe('ChargeSuccess');
      expect(await charge(id, key)).toBe('ChargeSuccess');
    });
    expect(risen).toEqual([1, 1]);
  });

  it('are not counted where nothing was committed', async () => {
    const id = await openOrder(gateway, ALICE, '999.00');
    const risen = await rises([CHARGED, UNKNOWN], async () => {
      expect(await charge(id)).toBe('InsufficientBalance');
    });
    expect(risen).toEqual([0, 0]);
  });
});

describe('a transaction that met others', () => {
  it('is counted under its operation, each try', async () => {
    const id = await openOrder(gateway, ALICE, '5.00');
    proxy.next({
      operation: 'TransactWriteItems',
      times: 2,
      fault: { kind: 'CANCELED', reasons: ['None', 'TransactionConflict', 'None', 'None'] },
    });
    const conflicts = 'hitotsu_transaction_conflict_total{operation="charge"}';
    const risen = await rises([conflicts], async () => {
      expect(await charge(id)).toBe('ChargeSuccess');
    });
    expect(risen).toEqual([2]);
  });
});

describe('a transaction whose every answer got lost', () => {
  async function lost(fault: Fault): Promise<string> {
    const id = await openOrder(gateway, ALICE, '5.00');
    proxy.next({ operation: 'TransactWriteItems', times: 3, fault });
    return charge(id);
  }

  it('is counted under its operation, and its transition once, as it was committed after all', async () => {
    const risen = await rises([UNKNOWN, CHARGED], async () => {
      expect(await lost({ kind: 'DROP_AFTER' })).toBe('ChargeSuccess');
    });
    expect(risen).toEqual([1, 1]);
  });

  it('is counted although it was not committed, and no transition is', async () => {
    const risen = await rises([UNKNOWN, CHARGED], async () => {
      expect(await lost({ kind: 'DROP_BEFORE' })).toBe('Throttled');
    });
    expect(risen).toEqual([1, 0]);
  });
});

describe('calls of the provider', () => {
  const sessions = (result: string): string =>
    `hitotsu_provider_call_total{operation="createSession",result="${result}"}`;
  const timed = 'hitotsu_provider_duration_seconds_count{operation="createSession"}';

  it('are counted and timed by how they ended', async () => {
    const all = [sessions('DONE'), sessions('REFUSED'), sessions('UNAVAILABLE'), sessions('UNKNOWN'), timed];
    const path = '/v1/checkout/sessions';
    const [first, second, third, fourth] = await Promise.all(
      [1, 2, 3, 4].map(() => openOrder(gateway, ALICE, '5.00')),
    );
    expect(await rises(all, () => checkout(first ?? ''))).toEqual([1, 0, 0, 0, 1]);
    await simulator.failNextRequests({ path, count: 1, status: 400, type: 'invalid_request_error' });
    expect(await rises(all, () => checkout(second ?? ''))).toEqual([0, 1, 0, 0, 1]);
    await simulator.failNextRequests({ path, count: 1, status: 429, type: 'api_error' });
    expect(await rises(all, () => checkout(third ?? ''))).toEqual([0, 0, 1, 0, 1]);
    // An unknown end is asked about once more, with the same key.
    await simulator.failNextRequests({ path, count: 1, status: 500, type: 'api_error' });
    expect(await rises(all, () => checkout(fourth ?? ''))).toEqual([1, 0, 0, 1, 2]);
  });
});
