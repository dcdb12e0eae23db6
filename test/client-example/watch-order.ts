import { print } from 'graphql';
import { type Client, createClient } from 'graphql-ws';
import { WatchOrderDocument, type WatchOrderSubscription } from '../support/generated/documents.ts';

export type Transition = WatchOrderSubscription['orderTransitions'];

export interface WatchOptions {
  /** `wss://…/graphql` */
  readonly url: string;
  /** Asked at every connection: after 4403 the token was too old. */
  readonly token: () => Promise<string>;
  /** `ws` in Node; browsers and React Native have their own. */
  readonly webSocketImpl?: unknown;
  readonly wait: (ms: number) => Promise<void>;
}

/** The gateway refuses this subscription for good: the order isn't the viewer's, or isn't there. */
export class WatchRefusedError extends Error {
  override readonly name = 'WatchRefusedError';
}

/**
 * Every transition of an order above a version, once and in order, across any number of lost connections, until `signal` aborts.
 *
 * Libraries that reconnect by themselves repeat their first variables, so what was seen would come again from the start. Here
 * the connection is made anew each time with the last version seen; and whatever comes twice all the same is dropped.
 */
export async function* watchOrder(
  options: WatchOptions,
  orderId: string,
  seenVersion: number,
  signal: AbortSignal,
): AsyncGenerator<Transition, void, void> {
  const over = (): boolean => signal.aborted;
  let version = seenVersion;
  for (let failures = 0; !over(); failures += 1) {
    const client = connect(options);
    const stop = (): void => {
      client.terminate();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const variables = { orderId, afterVersion: version };
      const results = client.iterate<WatchOrderSubscription>({ query: print(WatchOrderDocument), variables });
      for await (const { data, errors } of results) {
        // A refusal is a result with errors; so is an event that could not be read, and then it comes again.
        if (errors !== undefined) throw new ResultErrors(errors);
        failures = 0;
        const transition = data?.orderTransitions;
        if (transition === undefined || transition.version <= version) continue;
        version = transition.version;
        yield transition;
      }
    } catch (error) {
      if (isRefusal(error)) throw new WatchRefusedError('the order cannot be watched');
      // A lost connection, or one that the gateway closed: come again.
    } finally {
      signal.removeEventListener('abort', stop);
      await client.dispose();
    }
    // A `complete` as well: it says that this stream is over, not that the order is.
    if (!over()) await options.wait(Math.min(100 * 2 ** failures, 10_000));
  }
}

function connect({ url, token, webSocketImpl }: WatchOptions): Client {
  return createClient({
    url,
    webSocketImpl,
    retryAttempts: 0,
    connectionParams: async () => ({ authorization: `Bearer ${await token()}` }),
    onNonLazyError: () => undefined,
  });
}

class ResultErrors extends Error {
  readonly codes: readonly unknown[];
  constructor(errors: readonly { readonly extensions?: Readonly<Record<string, unknown>> | undefined }[]) {
    super('a result with errors');
    this.codes = errors.map(({ extensions }) => extensions?.['code']);
  }
}

/** What coming again can't change. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof ResultErrors &&
    error.codes.some((code) => code === 'FORBIDDEN' || code === 'BAD_REQUEST')
  );
}
