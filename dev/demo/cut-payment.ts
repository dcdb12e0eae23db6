import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { type Stage, checkout, openOrder } from './payment.ts';
import type { SeenTransition } from './gateway-client.ts';
import { openTunnel } from './tunnel.ts';

const TRANSITIONS = `subscription ($orderId: ID!, $afterVersion: Int!) {
  orderTransitions(orderId: $orderId, afterVersion: $afterVersion) { version from to cause }
}`;
const WAIT_MS = 15_000;

/**
 * A phone in a railway tunnel: it loses its connection in the middle of a payment, the payment goes on without it, and when it
 * is back it has seen every transition, in order, none twice. For `npm run demo -- --tunnel`.
 */
export async function playTunnel(stage: Stage, gatewayUrl: string): Promise<void> {
  const { cast, narrator, simulator } = stage;
  const tunnel = await openTunnel(gatewayUrl);
  const stopping = new AbortController();
  try {
    narrator.step('An order, watched over a connection that runs through a tunnel');
    const orderId = await openOrder(stage, 'tunnel-order', [{ sku: 'coffee', quantity: 1 }]);
    const watch = follow(tunnel.url, cast.customer, orderId, stopping.signal);
    const session = await checkout(stage, 'tunnel-checkout', orderId);
    await until(() => watch.seen.at(-1)?.to === 'SESSION_CREATED');
    narrator.transitions(watch.seen);

    narrator.step('The train enters the tunnel, and there the customer pays');
    tunnel.enter();
    const before = watch.seen.length;
    const outside = stage.gateway.watch(cast.customer, orderId);
    await simulator.call('pay-by-card', { session: session.id });
    const complete = await outside.until('CONFIRMED');
    await outside.stop();
    narrator.check(watch.seen.length === before, 'the phone heard nothing of it');

    narrator.step(
      'Out of the tunnel: it reconnects and asks for what came after the last version that it saw',
    );
    tunnel.leave();
    await until(() => watch.seen.length >= complete.length);
    narrator.transitions(watch.seen);
    const versions = watch.seen.map(({ version }) => version);
    narrator.check(
      versions.every((version, index) => version === index + 1) && versions.length === complete.length,
      `versions ${versions.join(', ')}: complete, in order, none twice`,
    );
    narrator.tell(`over ${String(watch.connections())} connections`);
  } finally {
    stopping.abort();
    await tunnel.close();
  }
}

interface Following {
  readonly seen: readonly SeenTransition[];
  readonly connections: () => number;
}

/** Watches an order across lost connections, as docs/CLIENTS.md has it: each one goes on from the last version seen. */
function follow(url: string, token: string, orderId: string, signal: AbortSignal): Following {
  const seen: SeenTransition[] = [];
  let connections = 0;
  const connect = async (): Promise<void> => {
    const client = createClient({
      url: `${url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization: `Bearer ${token}` },
      on: { connected: () => (connections += 1) },
    });
    const stop = (): void => {
      client.terminate();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const variables = { orderId, afterVersion: seen.at(-1)?.version ?? 0 };
      const events = client.iterate<{ orderTransitions: SeenTransition }>({ query: TRANSITIONS, variables });
      for await (const { data } of events)
        if (data !== undefined && data !== null) seen.push(data.orderTransitions);
    } catch {
      // The connection is gone: that is what this is about.
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };
  void (async () => {
    while (!signal.aborted) {
      await connect();
      await delay(100);
    }
  })();
  return { seen, connections: () => connections };
}

/** Waits for a condition. Throws an Error after fifteen seconds. */
async function until(holds: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(WAIT_MS);
  while (!holds()) {
    if (signal.aborted) throw new Error('It did not happen within fifteen seconds.');
    await delay(20);
  }
}
