import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

/** A transition as the demo prints it. */
export interface SeenTransition {
  readonly version: number;
  readonly from: string | null;
  readonly to: string;
  readonly cause: string;
}

/** A small client of a running gateway, over real HTTP and a real WebSocket, as an app would have. */
export interface GatewayClient {
  /** Runs one document; throws an Error with the gateway's own words if it answers with errors. */
  readonly run: <Data>(
    token: string,
    document: string,
    variables?: Readonly<Record<string, unknown>>,
  ) => Promise<Data>;
  /** Watches an order's transitions until `stop`. */
  readonly watch: (token: string, orderId: string) => OrderWatch;
}

export interface OrderWatch {
  readonly seen: readonly SeenTransition[];
  /** Resolves with what was seen once the order has come to this state; rejects after ten seconds. */
  readonly until: (state: string) => Promise<readonly SeenTransition[]>;
  readonly stop: () => Promise<void>;
}

const WAIT_MS = 10_000;

const TRANSITIONS = `subscription ($orderId: ID!) {
  orderTransitions(orderId: $orderId) { version from to cause }
}`;

export function createGatewayClient(baseUrl: string): GatewayClient {
  return {
    run: async <Data>(token: string, query: string, variables: Readonly<Record<string, unknown>> = {}) => {
      const response = await fetch(`${baseUrl}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables }),
      });
      // The gateway's answer has the shape of the document that was sent.
      const answer = (await response.json()) as { data?: Data | null; errors?: { message: string }[] };
      if (answer.errors !== undefined || answer.data === undefined || answer.data === null) {
        const reasons = (answer.errors ?? []).map((error) => error.message).join('; ');
        throw new Error(`The gateway answered ${String(response.status)}: ${reasons}`);
      }
      return answer.data;
    },
    watch: (token, orderId) => watchOrder(baseUrl.replace(/^http/, 'ws'), token, orderId),
  };
}

function watchOrder(socketBase: string, token: string, orderId: string): OrderWatch {
  const client = createClient({
    url: `${socketBase}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
  });
  const seen: SeenTransition[] = [];
  const waiting = new Set<() => void>();
  client.subscribe<{ orderTransitions: SeenTransition }>(
    { query: TRANSITIONS, variables: { orderId } },
    {
      next: ({ data }) => {
        if (data === undefined || data === null) return;
        seen.push(data.orderTransitions);
        for (const check of [...waiting]) check();
      },
      error: () => undefined,
      complete: () => undefined,
    },
  );
  return {
    seen,
    until: (state) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (seen.at(-1)?.to !== state) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve([...seen]);
        };
        const timer = setTimeout(() => {
          waiting.delete(check);
          const last = seen.at(-1)?.to ?? 'nothing';
          reject(new Error(`The order did not become ${state} within ten seconds; last seen: ${last}.`));
        }, WAIT_MS);
        waiting.add(check);
        check();
      }),
    stop: async () => {
      await client.dispose();
    },
  };
}
