import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { systemClock } from '../../../src/ledger/kernel/clock.ts';
import { type Logger, createLogger } from '../../../src/observability/logger.ts';
import { type Gateway, type Principal, dataOf } from '../../support/gateway.ts';

export function silentLogger(): Logger {
  return createLogger({ level: 'silent', clock: systemClock });
}

export const TRANSITIONS = `subscription ($orderId: ID!, $afterVersion: Int! = 0) {
  orderTransitions(orderId: $orderId, afterVersion: $afterVersion) { version to cause order { id state } }
}`;

export interface SeenTransition {
  readonly version: number;
  readonly to: string;
  readonly cause: string;
  readonly order: { readonly id: string; readonly state: string };
}

/** What a subscription has brought so far. */
export interface Watch<Event> {
  readonly seen: readonly Event[];
  readonly errors: readonly unknown[];
  readonly completed: () => boolean;
  readonly stop: () => void;
}

/** Subscribes over a client; `toEvent` takes an event out of the data. */
export function watch<Event>(
  client: Client,
  query: string,
  variables: Record<string, unknown>,
  toEvent: (data: Record<string, Event>) => Event | undefined,
): Watch<Event> {
  const seen: Event[] = [];
  const errors: unknown[] = [];
  let completed = false;
  const stop = client.subscribe<Record<string, Event>>(
    { query, variables },
    {
      next: ({ data, errors: failed }) => {
        if (failed !== undefined) errors.push(...failed);
        const event = data === null || data === undefined ? undefined : toEvent(data);
        if (event !== undefined) seen.push(event);
      },
      error: (error) => errors.push(...(Array.isArray(error) ? (error as unknown[]) : [error])),
      complete: () => (completed = true),
    },
  );
  return { seen, errors, completed: () => completed, stop };
}

export function watchOrder(client: Client, orderId: string, afterVersion = 0): Watch<SeenTransition> {
  return watch<SeenTransition>(
    client,
    TRANSITIONS,
    { orderId, afterVersion },
    (data) => data['orderTransitions'],
  );
}

/** A client as an app has it: graphql-ws, with its retries, asking for a token whenever it connects. */
export function socketClient(
  url: string,
  token: () => Promise<string>,
  options: Partial<Parameters<typeof createClient>[0]> = {},
): Client {
  return createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    lazy: true,
    retryAttempts: 20,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 20)),
    connectionParams: async () => ({ authorization: `Bearer ${await token()}` }),
    ...options,
  });
}

export function clientOf(gateway: Gateway, principal: Principal, ttlS?: number): Client {
  return socketClient(gateway.graphqlUrl, () => gateway.token(principal, ttlS));
}

export interface BareMessage {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

/** A bare socket that speaks the protocol by hand. */
export interface BareSocket {
  readonly socket: WebSocket;
  readonly messages: readonly BareMessage[];
  readonly send: (message: unknown) => void;
  /** Resolves with the first message, past or to come, that is like this; rejects if the socket closes before. */
  readonly until: (isIt: (message: BareMessage) => boolean) => Promise<BareMessage>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export async function bareSocket(url: string, options: { origin?: string } = {}): Promise<BareSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws', options);
  const messages: BareMessage[] = [];
  socket.on('message', (data: Buffer) => {
    // What the protocol sends.
    messages.push(JSON.parse(data.toString()) as BareMessage);
    socket.emit('heard');
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
    }),
  );
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => {
      resolve();
    });
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);
  return {
    socket,
    messages,
    closed,
    send: (message) => {
      socket.send(JSON.stringify(message));
    },
    until: (isIt) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = messages.find(isIt);
          if (found === undefined) return;
          socket.off('heard', check);
          resolve(found);
        };
        socket.on('heard', check);
        check();
        void closed.then(({ code, reason }) => {
          reject(new Error(`closed with ${String(code)} ${reason} after ${JSON.stringify(messages)}`));
        });
      }),
  };
}

/** Limits that a test reaches; but it may send as many messages as it likes, since its clock stands still. */
export const LOW_LIMITS = {
  sockets: {
    initTimeoutMs: 200,
    maxMessageBytes: 4_096,
    messagesPerWindow: 1_000_000,
    operationsPerSocket: 5,
    socketsPerPrincipal: 3,
  },
  rates: { subscription: { perSecond: 1_000_000, burst: 1_000_000 } },
};

/** A bare socket whose viewer is known. */
export async function signedIn(gateway: Gateway, principal: Principal): Promise<BareSocket> {
  const bare = await bareSocket(gateway.graphqlUrl);
  bare.send({
    type: 'connection_init',
    payload: { authorization: `Bearer ${await gateway.token(principal)}` },
  });
  await bare.until(({ type }) => type === 'connection_ack');
  return bare;
}

/** The HTTP status with which an upgrade is refused; 101 if it isn't. */
export function upgradeStatus(url: string, options: { origin?: string } = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws', options);
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
    });
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.once('error', reject);
  });
}

/** One Server-Sent Events subscription, read in the background. */
export interface EventStream {
  readonly status: number;
  readonly events: readonly { readonly event: string; readonly data: unknown }[];
  readonly ended: () => boolean;
  readonly abort: () => void;
}

export async function eventStream(
  url: string,
  token: string,
  query: string,
  variables: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const controller = new AbortController();
  const response = await fetch(url, {
    method: 'POST',
    signal: controller.signal,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  });
  const events: { event: string; data: unknown }[] = [];
  let ended = false;
  void (async () => {
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const event = /^event: (.*)$/m.exec(block)?.[1];
          const data = /^data: (.+)$/m.exec(block)?.[1];
          if (event !== undefined)
            events.push({ event, data: data === undefined ? undefined : JSON.parse(data) });
        }
      }
    } catch {
      // Aborted by the test, or cut by the server: either way it has ended.
    }
    ended = true;
  })();
  return {
    status: response.status,
    events,
    ended: () => ended,
    abort: () => {
      controller.abort();
    },
  };
}

/** Opens an order of the principal at m_1, over HTTP. */
export async function openOrder(
  gateway: Gateway,
  seller: Principal,
  accountId: string,
  amount = '1.00',
): Promise<string> {
  const answer = await gateway.run<{ createOrder: { order: { id: string } } }, Record<string, unknown>>(
    seller,
    `mutation ($key: IdempotencyKey!, $input: CreateOrderInput!) {
      createOrder(idempotencyKey: $key, input: $input) { ... on CreateOrderSuccess { order { id } } }
    }`,
    { key: gateway.key(), input: { merchantId: 'm_1', accountId, amount, description: 'test' } },
  );
  return dataOf(answer).createOrder.order.id;
}

export async function fund(
  gateway: Gateway,
  admin: Principal,
  accountId: string,
  amount = '1000.00',
): Promise<void> {
  const answer = await gateway.run<{ adjustBalance: { __typename: string } }, Record<string, unknown>>(
    admin,
    `mutation ($key: IdempotencyKey!, $input: AdjustBalanceInput!) {
      adjustBalance(idempotencyKey: $key, input: $input) { __typename }
    }`,
    { key: gateway.key(), input: { accountId, asset: 'ECOPAY', amount, reason: 'test funds' } },
  );
  if (dataOf(answer).adjustBalance.__typename !== 'AdjustBalanceSuccess') throw new Error('not funded');
}

/** Charges and gives the name of the outcome. */
export async function charge(gateway: Gateway, customer: Principal, orderId: string): Promise<string> {
  const answer = await gateway.run<{ charge: { __typename: string } }, Record<string, unknown>>(
    customer,
    'mutation ($key: IdempotencyKey!, $orderId: ID!) { charge(idempotencyKey: $key, input: { orderId: $orderId }) { __typename } }',
    { key: gateway.key(), orderId },
  );
  return dataOf(answer).charge.__typename;
}

/** A gauge of the gateway as /metrics shows it. */
export async function gauge(gateway: Gateway, name: string): Promise<number> {
  const { body } = await gateway.server.app.metrics.render();
  return Number.parseInt(new RegExp(`^${name} (\\d+)$`, 'm').exec(body)?.[1] ?? '-1', 10);
}
