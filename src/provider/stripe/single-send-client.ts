import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import Stripe from 'stripe';

/** The error code of a connection that closed before an answer came: the request may have been carried out. */
export const CONNECTION_LOST = 'CONNECTION_LOST';

/** The call that is being made, to which the client says that its request goes out. */
const callBeingMade = new AsyncLocalStorage<{ isSent: boolean }>();

/** Runs one call of the SDK. `isSent` tells of an error whether it came before anything was sent. */
export function runCall<Answer>(call: { isSent: boolean }, send: () => Promise<Answer>): Promise<Answer> {
  return callBeingMade.run(call, send);
}

type HttpClient = ReturnType<typeof Stripe.createNodeHttpClient>;

/**
 * An HTTP client for the SDK that sends each request once.
 *
 * The SDK sends again after a reset even with retries off (FIELD-CASES C05), and reports only how the second request ended. A
 * refused connection or a rate limit would then read as "never tried", though the first request may have been carried out. The
 * SDK decides by the error's code, so a closed connection gets a code that the SDK doesn't know.
 * @param timeoutMs how long a connection may stay silent or idle
 */
export function singleSendClient(protocol: 'http' | 'https', timeoutMs: number): HttpClient {
  // Unlike the SDK's, the agent's time-out also limits connecting. It drops idle connections before a load balancer does: a
  // stale one would cost an unknown outcome.
  const settings = { keepAlive: true, timeout: timeoutMs };
  const client = Stripe.createNodeHttpClient(
    protocol === 'http' ? new HttpAgent(settings) : new HttpsAgent(settings),
  );
  return {
    getClientName: () => client.getClientName(),
    makeRequest: async (...request) => {
      const call = callBeingMade.getStore();
      if (call !== undefined) call.isSent = true;
      try {
        return await client.makeRequest(...request);
      } catch (error) {
        throw isClosedConnection(error)
          ? Object.assign(new Error('connection lost'), { code: CONNECTION_LOST })
          : error;
      }
    },
  };
}

function isClosedConnection(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return Stripe.HttpClient.CONNECTION_CLOSED_ERROR_CODES.includes(error.code);
}
