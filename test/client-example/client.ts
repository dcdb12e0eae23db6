import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';

export interface ClientOptions {
  /** `https://…/graphql`; subscriptions go to the same address over `wss:`. */
  readonly url: string;
  /** Asked at every request and every connection, so that a refreshed token is used at once. */
  readonly token: () => Promise<string>;
  /** `ws` in Node; browsers and React Native have their own. */
  readonly webSocketImpl?: unknown;
}

/**
 * An urql client for the gateway: HTTP for queries and mutations, one WebSocket for all subscriptions.
 *
 * Nothing here retries. The app keeps the key of a payment across restarts, which no exchange outlives, so the app also decides
 * when to ask again with it (`pay.ts`); and a subscription has to come again with other variables (`watch-order.ts`). There is
 * no cache either: what became of a payment is asked of the gateway.
 */
export function createGatewayClient({ url, token, webSocketImpl }: ClientOptions): Client {
  const authorization = async (): Promise<string> => `Bearer ${await token()}`;
  const sockets = createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl,
    retryAttempts: 0,
    connectionParams: async () => ({ authorization: await authorization() }),
  });
  return new Client({
    url,
    // urql's default sends short queries by GET.
    preferGetMethod: false,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', await authorization());
      const signals = [AbortSignal.timeout(10_000), ...(init?.signal ? [init.signal] : [])];
      return await fetch(input, { ...init, headers, signal: AbortSignal.any(signals) });
    },
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: ({ next, error }) => {
            const unsubscribe = sockets.subscribe(
              { query, variables },
              {
                next: ({ data = null, errors }) => {
                  next(errors === undefined ? { data } : { data, errors });
                },
                error,
                // urql tells its subscribers nothing of a `complete` before the first result; every end is an error to them.
                complete: () => {
                  error(new Error('the stream is over'));
                },
              },
            );
            return { unsubscribe };
          },
        }),
      }),
    ],
  });
}
