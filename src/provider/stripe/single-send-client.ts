import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import Stripe from 'stripe';

/** The error code of a connection that closed before an answer came: the request may have been carried out. */
export const CONNECTION_LOST = 'CONNECTION_LOST';

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
