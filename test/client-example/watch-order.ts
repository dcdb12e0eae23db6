import {
  type Client,
  type CombinedError,
  type OperationResult,
  type OperationResultSource,
  createRequest,
} from '@urql/core';
import { WatchOrderDocument, type WatchOrderSubscription } from '../support/generated/documents.ts';

export type Transition = WatchOrderSubscription['orderTransitions'];

export interface WatchOptions {
  readonly client: Client;
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
 * the subscription is made anew each time with the last version seen; and whatever comes twice all the same is dropped.
 */
export async function* watchOrder(
  { client, wait }: WatchOptions,
  orderId: string,
  seenVersion: number,
  signal: AbortSignal,
): AsyncGenerator<Transition, void, void> {
  const over = (): boolean => signal.aborted;
  let version = seenVersion;
  for (let failures = 0; !over(); failures += 1) {
    for await (const { data, error } of resultsOf(subscribe(client, orderId, version), signal)) {
      if (error !== undefined) {
        if (isRefusal(error)) throw new WatchRefusedError('the order cannot be watched');
        // An event that could not be read, a `complete` or a lost connection: this stream is over, the order is not.
        break;
      }
      failures = 0;
      const transition = data?.orderTransitions;
      if (transition === undefined || transition.version <= version) continue;
      version = transition.version;
      yield transition;
    }
    if (!over()) await wait(Math.min(100 * 2 ** failures, 10_000));
  }
}

type WatchResult = OperationResult<WatchOrderSubscription>;

let watches = 0;

/**
 * urql shares one stream among equal subscriptions, and who joins late would miss what was replayed before. So each gets a key
 * of its own; urql's are hashes, which are never negative.
 */
function subscribe(
  client: Client,
  orderId: string,
  afterVersion: number,
): OperationResultSource<WatchResult> {
  watches += 1;
  const request = createRequest(WatchOrderDocument, { orderId, afterVersion });
  return client.executeSubscription({ ...request, key: -watches });
}

/** urql pushes, `for await` pulls: what comes in between waits here. */
async function* resultsOf(
  source: OperationResultSource<WatchResult>,
  signal: AbortSignal,
): AsyncGenerator<WatchResult, void, void> {
  const arrived: WatchResult[] = [];
  let wake = (): void => undefined;
  const onAbort = (): void => {
    wake();
  };
  const subscription = source.subscribe((result) => {
    arrived.push(result);
    wake();
  });
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      const result = arrived.shift();
      if (result !== undefined) yield result;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    subscription.unsubscribe();
  }
}

/** What coming again can't change. */
function isRefusal({ graphQLErrors }: CombinedError): boolean {
  return graphQLErrors.some(
    ({ extensions }) => extensions['code'] === 'FORBIDDEN' || extensions['code'] === 'BAD_REQUEST',
  );
}
