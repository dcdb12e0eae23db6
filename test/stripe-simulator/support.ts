import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/ledger/kernel/clock.ts';
import {
  startStripeSimulator,
  type StripeSimulator,
  type StripeSimulatorOptions,
} from '../../dev/stripe-simulator/server.ts';

export const SECRET_KEY = 'sk_test_simulator';
export const WEBHOOK_SECRET = 'whsec_simulator';

/** 2026-01-15T00:00:00Z, where the tests' own clock starts. */
export const START_S = 1_768_435_200;

export interface TestClock extends Clock {
  advanceMs: (ms: number) => void;
}

export function testClock(startS = START_S): TestClock {
  let nowMs = startS * 1000;
  return {
    nowMs: () => nowMs,
    advanceMs: (ms) => {
      nowMs += ms;
    },
  };
}

/** A simulator for one test, ended with it. */
export async function simulator(options: Partial<StripeSimulatorOptions> = {}): Promise<StripeSimulator> {
  const started = await startStripeSimulator({
    secretKey: SECRET_KEY,
    webhookSecret: WEBHOOK_SECRET,
    clock: testClock(),
    webhookFirstRetryMs: 5,
    ...options,
  });
  onTestFinished(() => started.close());
  return started;
}

/** The real SDK, pointed at a simulator. */
export function sdk(target: StripeSimulator, key = SECRET_KEY): Stripe {
  return new Stripe(key, {
    host: '127.0.0.1',
    port: target.port,
    protocol: 'http',
    maxNetworkRetries: 0,
    timeout: 5000,
    telemetry: false,
  });
}

export interface ReceivedWebhook {
  readonly signature: string;
  readonly body: string;
  readonly event: Stripe.Event;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: ReceivedWebhook[];
  /** The types received so far, in order of arrival. */
  readonly types: () => string[];
  /** Statuses to answer next, before 200 again. */
  readonly answerNext: (...statuses: number[]) => void;
}

/** An endpoint over real HTTP that keeps what it gets. */
export async function webhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      // The simulator's own JSON; the signature tests check that it is what was signed.
      const event = JSON.parse(body) as Stripe.Event;
      received.push({ signature: String(request.headers['stripe-signature']), body, event });
      response.writeHead(statuses.shift() ?? 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/webhooks/stripe`,
    received,
    types: () => received.map(({ event }) => event.type),
    answerNext: (...next) => {
      statuses.push(...next);
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}

export function sessionParams(
  overrides: Partial<Stripe.Checkout.SessionCreateParams> = {},
): Stripe.Checkout.SessionCreateParams {
  return {
    mode: 'payment',
    line_items: [
      { price_data: { currency: 'jpy', unit_amount: 480, product_data: { name: 'Coffee' } }, quantity: 2 },
    ],
    allowed_payment_method_types: ['card', 'konbini'],
    client_reference_id: 'ord_1',
    metadata: { tenant: 'demo', order_id: 'ord_1', attempt: '1' },
    payment_intent_data: { metadata: { tenant: 'demo', order_id: 'ord_1', attempt: '1' } },
    success_url: 'https://shop.example/done?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://shop.example/cart',
    ...overrides,
  };
}

/** A session of 960 JPY, paid by card. */
export async function paidSession(
  target: StripeSimulator,
): Promise<{ session: string; paymentIntent: string }> {
  const { id } = await sdk(target).checkout.sessions.create(sessionParams());
  const { paymentIntent } = await target.payByCard({ session: id });
  if (paymentIntent === null) throw new Error('a session over an amount has a payment intent');
  return { session: id, paymentIntent: paymentIntent.id };
}

/** What a call was refused with; fails where it wasn't. */
export async function refusalOf(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  const error: unknown = await call.then(
    () => new Error('expected a refusal'),
    (reason: unknown) => reason,
  );
  if (error instanceof Stripe.errors.StripeError) return error;
  throw error;
}
