import { inject } from 'vitest';
import {
  type StripeSimulator,
  type StripeSimulatorOptions,
  startStripeSimulator,
} from '../../../dev/stripe-simulator/server.ts';
import { isLeased } from '../../../src/ledger/model/provider/attempts.ts';
import { idempotencyRecordKey } from '../../../src/ledger/kernel/keys.ts';
import {
  type IdempotencyRecord,
  readIdempotencyRecord,
} from '../../../src/ledger/items/idempotency-record.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import type { LedgerSettings } from '../../../src/ledger/usecases/runtime/ledger.ts';
import type { Attempt, Lease, Order } from '../../../src/ledger/model/orders/order.ts';
import type { PaymentProvider } from '../../../src/provider/port.ts';
import { createStripeProvider } from '../../../src/provider/stripe/stripe-adapter.ts';
import { type Harness, type OpenedOrder, customer, makeHarness } from '../../support/harness.ts';
import { ownedClock } from '../../support/owned-time.ts';

/** The lease of every claim in these tests. */
export const LEASE_MS = 30_000;

export const URLS = { successUrl: 'https://shop.example/paid', cancelUrl: 'https://shop.example/back' };

export interface ProviderHarness extends Harness {
  readonly simulator: StripeSimulator;
  /** Every call of the port so far, by name. */
  readonly calls: readonly string[];
  /** Moves both clocks, ours and Stripe's. */
  readonly advance: (ms: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The real adapter on the simulator and a ledger on the engine, both on one clock in the test's hand. */
export async function makeProviderHarness(
  settings: Partial<LedgerSettings> = {},
  clock = ownedClock(),
  simulatorOptions: Partial<StripeSimulatorOptions> = {},
): Promise<ProviderHarness> {
  const simulator = await startStripeSimulator({
    secretKey: 'sk_test_1',
    webhookSecret: 'whsec_test_1',
    clock,
    seed: 'operations',
    ...simulatorOptions,
  });
  const calls: string[] = [];
  const provider = recorded(
    createStripeProvider({
      secretKey: 'sk_test_1',
      webhookSecrets: ['whsec_test_1'],
      apiBase: new URL(simulator.url),
      timeoutMs: 5_000,
    }),
    calls,
  );
  const harness = await makeHarness({
    endpoint: inject('engineEndpoint'),
    clock,
    provider,
    settings: { leaseMs: LEASE_MS, ...settings },
  });
  return {
    ...harness,
    simulator,
    calls,
    advance: async (ms) => {
      clock.advance(ms);
      // The simulator runs on the same clock; this lets it expire what has ended.
      await simulator.advanceClock({ ms: 0 });
    },
    stop: async () => {
      harness.close();
      await simulator.close();
    },
  };
}

/** The same provider, with the name of every call written down. */
function recorded(provider: PaymentProvider, calls: string[]): PaymentProvider {
  return new Proxy(provider, {
    get: (target, name, receiver): unknown => {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push(String(name));
        return Reflect.apply(value, target, args);
      };
    },
  });
}

/** Opens an order of an account's and its payment page. */
export async function checkedOut(
  harness: ProviderHarness,
  amount = '20.00',
  accountId = 'u_1',
): Promise<OpenedOrder & { readonly sessionId: string }> {
  const opened = await harness.openOrder('t_1', accountId, amount);
  const outcome = await checkout(harness.ledger, customer(accountId), harness.key(), {
    orderId: opened.id,
    ...URLS,
  });
  if (outcome.kind !== 'CheckoutSuccess') throw new Error(`not checked out: ${outcome.kind}`);
  return { ...opened, sessionId: await sessionOf(harness, opened.orderId, accountId) };
}

export async function sessionOf(harness: Harness, orderId: string, accountId = 'u_1'): Promise<string> {
  const { sessionId } = await attemptOf(harness, orderId, accountId);
  if (sessionId === undefined) throw new Error('the attempt has no session');
  return sessionId;
}

export async function attemptOf(harness: Harness, orderId: string, accountId = 'u_1'): Promise<Attempt> {
  const attempt = (await harness.order('t_1', accountId, orderId)).attempts.at(-1);
  if (attempt === undefined) throw new Error('the order has no attempt');
  return attempt;
}

export async function idempotencyRecordOf(
  harness: Harness,
  operation: string,
  key: string,
  principal = 'customer/u_1',
): Promise<IdempotencyRecord | undefined> {
  const [item] = await harness.ledger.store.get([
    idempotencyRecordKey({ tenant: 't_1', principal, operation, key }),
  ]);
  return item === undefined ? undefined : readIdempotencyRecord(item);
}

export function claimOn(order: Order): Lease {
  const held = [...order.attempts, ...order.refundClaims].find(isLeased);
  if (held === undefined) throw new Error('nobody holds a claim on the order');
  return held.lease;
}

/** How many sessions Stripe has made, whoever knows of them. */
export async function sessionsMade({ simulator }: ProviderHarness): Promise<number> {
  const response = await fetch(`${simulator.url}/v1/checkout/sessions?limit=100`, {
    headers: { authorization: 'Bearer sk_test_1' },
  });
  const { data } = (await response.json()) as { data: unknown[] };
  return data.length;
}

/** Applies every event that Stripe has, as their webhooks would. Those applied before change nothing. */
export async function applyEvents({ ledger }: ProviderHarness): Promise<void> {
  const listed = await ledger.provider.listEvents({ limit: 100 });
  if (listed.kind !== 'DONE') throw new Error(`no events: ${listed.kind}`);
  for (const event of [...listed.value.items].reverse()) await applyEvent(ledger, event);
}

/** An order of `u_1` that a card has paid. */
export async function paidByCard(
  harness: ProviderHarness,
  amount = '100.00',
): Promise<OpenedOrder & { readonly paymentId: string }> {
  const { id, orderId, sessionId } = await checkedOut(harness, amount);
  await harness.simulator.payByCard({ session: sessionId });
  await applyEvents(harness);
  const { payment } = await harness.order('t_1', 'u_1', orderId);
  if (payment?.paymentId === undefined) throw new Error('the order is not paid');
  const { paymentId } = payment;
  return { id, orderId, paymentId };
}
