import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { inject, onTestFinished } from 'vitest';
import { stripeEvent } from '../../unit/provider/stripe/stripe-objects.ts';
import { type Harness, type HarnessOptions, makeHarness } from '../../support/harness.ts';
import { ownedClock } from '../../support/owned-time.ts';
import { claimAttempt, openSession } from '../../../src/ledger/model/provider/attempts.ts';
import type { StoredItem } from '../../../src/ledger/kernel/attributes.ts';
import { netChanges } from '../../../src/ledger/model/entries/entry.ts';
import { type EventRecord, readEventRecord } from '../../../src/ledger/items/event-item.ts';
import { eventKey } from '../../../src/ledger/kernel/keys.ts';
import { decimal, plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { type Ledger, commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import type { UpdateResult } from '../../../src/ledger/usecases/provider-updates/provider-update.ts';
import { putOrder } from '../../../src/ledger/items/order-writes.ts';
import type { Order, Refund } from '../../../src/ledger/model/orders/order.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { eventReader } from '../../../src/provider/stripe/event-mapping.ts';
import type {
  ProviderDispute,
  ProviderEvent,
  ProviderEventObject,
  ProviderPayment,
  ProviderRefund,
  ProviderResult,
  ProviderSession,
} from '../../../src/provider/port.ts';
import { createStripeProvider } from '../../../src/provider/stripe/stripe-adapter.ts';
import { stripeWebhook } from '../../../src/webhooks/stripe.ts';
import { openedOrder } from '../../support/sample-orders.ts';

const readEvent = eventReader({ apiVersion: '2026-10-28.endive', account: undefined });

export const WEBHOOK_SECRET = 'whsec_webhooks_test';

/** What the provider says when it is asked, by id; `down` makes every question fail. */
export interface Account {
  readonly sessions: Map<string, ProviderSession>;
  readonly payments: Map<string, ProviderPayment>;
  readonly refunds: Map<string, ProviderRefund>;
  readonly disputes: Map<string, ProviderDispute>;
  readonly events: Map<string, ProviderEvent>;
  /** What is fetched in the place of an event's object. */
  readonly objects: Map<string, ProviderEventObject>;
  down: boolean;
  /** How often it was asked. */
  asked: number;
}

export interface World extends Harness {
  readonly account: Account;
  /** A stored order with one open session `cs_1`, 500 JPY unless said otherwise. */
  readonly waitingOrder: (options?: WaitingOptions) => Promise<Order>;
  readonly apply: (event: ProviderEvent) => Promise<UpdateResult>;
  readonly now: (order: Order) => Promise<Order>;
  readonly refundsOf: (order: Order) => Promise<readonly Refund[]>;
  readonly record: (eventId: string) => Promise<EventRecord | undefined>;
  /** What an account of the ledger holds by the entries of one wallet's partition. */
  readonly recorded: (accountId: string, account: string, asset?: string) => Promise<string>;
}

export interface WaitingOptions {
  readonly kind?: Order['kind'];
  readonly sessionIds?: readonly string[];
  readonly amount?: string;
  /** Whether the last attempt is still being claimed. */
  readonly claimed?: boolean;
}

export async function makeWorld(options: Partial<HarnessOptions> = {}): Promise<World> {
  const account: Account = {
    sessions: new Map(),
    payments: new Map(),
    refunds: new Map(),
    disputes: new Map(),
    events: new Map(),
    objects: new Map(),
    down: false,
    asked: 0,
  };
  const clock = options.clock ?? ownedClock();
  const harness = await makeHarness({
    endpoint: inject('engineEndpoint'),
    provider: fakeProvider(account),
    clock,
    ...options,
  });
  onTestFinished(harness.close);
  const { ledger } = harness;
  return {
    ...harness,
    account,
    waitingOrder: (waiting) => storeWaitingOrder(ledger, waiting),
    apply: (event) => applyEvent(ledger, event),
    now: ({ tenant, accountId, orderId }) => harness.order(tenant, accountId, orderId),
    refundsOf: ({ tenant, accountId, orderId }) => harness.refunds(tenant, accountId, orderId),
    record: async (eventId) => {
      const [item] = await ledger.store.get([eventKey(eventId)]);
      return item === undefined ? undefined : readEventRecord(item);
    },
    recorded: async (accountId, account_, asset = 'JPY') => {
      const entries = await harness.entries('demo', accountId);
      const nets = entries.flatMap((entry) => netChanges(entry, account_));
      return plainDecimal(
        nets.filter((net) => net.asset === asset).reduce((sum, { net }) => sum.plus(net), decimal('0')),
      );
    },
  };
}

/** The real adapter's signatures; what it would ask over the network comes from memory. */
function fakeProvider(account: Account): Ledger['provider'] {
  const found = <Value>(value: Value | undefined): Promise<ProviderResult<Value>> => {
    account.asked += 1;
    if (account.down) return Promise.resolve({ kind: 'UNKNOWN', reason: 'timeout' });
    return Promise.resolve(
      value === undefined ? { kind: 'REFUSED', code: 'resource_missing' } : { kind: 'DONE', value },
    );
  };
  return {
    ...createStripeProvider({
      secretKey: 'sk_test_webhooks',
      webhookSecrets: [WEBHOOK_SECRET],
      apiBase: new URL('http://127.0.0.1:9'),
      timeoutMs: 1_000,
    }),
    retrieveSession: (id) => found(account.sessions.get(id)),
    expireSession: (id) => {
      const session = account.sessions.get(id);
      if (session?.status === 'open') account.sessions.set(id, { ...session, status: 'expired' });
      return found(account.sessions.get(id));
    },
    retrievePayment: (id) => found(account.payments.get(id)),
    retrieveRefund: (id) => found(account.refunds.get(id)),
    retrieveDispute: (id) => found(account.disputes.get(id)),
    retrieveEventObject: ({ id }) => found(account.objects.get(id)),
    retrieveEvent: (id) => found(account.events.get(id)),
    listRefunds: ({ paymentId }) =>
      found({
        items: [...account.refunds.values()].filter((refund) => refund.paymentId === paymentId),
        hasMore: false,
      }),
  };
}

async function storeWaitingOrder(
  ledger: Ledger,
  { kind = 'PURCHASE', sessionIds = ['cs_1'], amount = '500', claimed = false }: WaitingOptions = {},
): Promise<Order> {
  const atMs = ledger.clock.nowMs();
  let order: Order = openedOrder({ orderId: ledger.ids.ulid(atMs), kind, amount, atMs });
  for (const [index, sessionId] of sessionIds.entries()) order = withSession(order, sessionId, index, atMs);
  if (claimed) order = claimedAttempt({ ...order, state: 'EXPIRED' }, atMs);
  await commit(ledger, plan(ledger.ids.token(), putOrder(order, ledger.settings)));
  return order;
}

function claimedAttempt(order: Order, atMs: number): Order {
  const terms = { successUrl: 'https://shop.example', cancelUrl: 'https://shop.example' };
  return claimAttempt(
    order,
    { ...terms, paymentMethodTypes: ['card', 'konbini'] },
    {
      owner: 'owner',
      leaseEndMs: atMs + 30_000,
      request: { principal: 'alice', operation: 'checkout', key: 'k' },
      recordTtlS: 4_000_000_000,
    },
    atMs,
    (texts) => texts,
  );
}

/** An attempt after those before it had expired. */
function withSession(order: Order, sessionId: string, index: number, atMs: number): Order {
  const before: Order =
    index === 0
      ? order
      : {
          ...order,
          state: 'EXPIRED',
          attempts: order.attempts.map((attempt) => ({ ...attempt, state: 'CLOSED' })),
        };
  const claimed = claimedAttempt(before, atMs);
  const attempt = claimed.attempts.at(-1);
  if (attempt === undefined) throw new Error('it was just claimed');
  return openSession(
    claimed,
    attempt,
    { sessionId, url: `https://checkout.stripe.test/${sessionId}`, expiresAtMs: atMs + 3_600_000 },
    { actor: 'alice', atMs },
  );
}

/** Metadata as we write it on what we make for an order's attempt. */
export function metadataOf(order: Order, attempt = 1): Readonly<Record<string, string>> {
  return {
    tenant: order.tenant,
    order_id: `${order.accountId}/${order.orderId}`,
    attempt: String(attempt),
  };
}

let lastEvent = 0;

/** An event in Stripe's own shape, with an id of its own. */
export function rawEvent(
  world: Pick<World, 'clock'>,
  type: string,
  object: unknown,
  fields: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  lastEvent += 1;
  return stripeEvent(type, object, {
    id: `evt_${String(lastEvent)}`,
    created: Math.floor(world.clock.nowMs() / 1000),
    ...fields,
  });
}

/** The same event as the adapter reads it. */
export function eventOf(
  world: Pick<World, 'clock'>,
  type: string,
  object: unknown,
  fields: Readonly<Record<string, unknown>> = {},
): ProviderEvent {
  const reading = readEvent(rawEvent(world, type, object, fields));
  if (reading.kind !== 'READ') throw new Error(`unreadable: ${type}`);
  return reading.value;
}

export interface Endpoint {
  readonly url: string;
  readonly logged: readonly string[];
  readonly post: (body: Uint8Array | string, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  /** Posts an event, signed as Stripe signs it. */
  readonly deliver: (event: unknown) => Promise<Response>;
}

/** The webhook over real HTTP. */
export async function serveWebhook(world: World): Promise<Endpoint> {
  const logged: string[] = [];
  const logger = createLogger({
    level: 'debug',
    clock: world.clock,
    destination: { write: (line) => void logged.push(line) },
  });
  const app = stripeWebhook({ ledger: world.ledger, logger, metrics: createMetrics() });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}/webhooks/stripe`;
  const post: Endpoint['post'] = (body, headers = {}) =>
    fetch(url, { method: 'POST', body: Buffer.from(body), headers });
  return {
    url,
    logged,
    post,
    deliver: (event) => {
      const body = JSON.stringify(event);
      return post(body, { 'stripe-signature': signatureOf(body, world) });
    },
  };
}

export function signatureOf(
  body: string | Uint8Array,
  world: Pick<World, 'clock'>,
  secret = WEBHOOK_SECRET,
): string {
  const timestamp = String(Math.floor(world.clock.nowMs() / 1000));
  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return `t=${timestamp},v1=${hmac}`;
}

/** An item as the table has it. */
export async function rawItem(
  world: World,
  key: { uuid: string; type: string },
): Promise<StoredItem | undefined> {
  const [item] = await world.ledger.store.get([key]);
  return item;
}
