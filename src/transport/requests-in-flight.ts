import type { MiddlewareHandler } from 'hono';
import type { Metrics } from '../observability/metrics.ts';
import { refusal } from './responses.ts';
import { LEFT_UNREAD } from './unacceptable-request.ts';

/**
 * Lets no more than `max` requests of a route be read and answered at a time, so that bodies that come slowly, or never to their
 * end, can't take all memory. What comes beyond that is told to come again, before its body is read.
 */
export function limitInFlight(
  route: 'graphql' | 'webhook',
  max: number,
  metrics: Pick<Metrics, 'count'>,
): MiddlewareHandler {
  let inFlight = 0;
  return async (_context, next) => {
    if (inFlight >= max) {
      metrics.count('RequestShed', { route });
      return refusal(503, 'RATE_LIMITED', 'Too many requests at a time.', {
        ...LEFT_UNREAD,
        'retry-after': '1',
      });
    }
    inFlight += 1;
    try {
      await next();
    } finally {
      inFlight -= 1;
    }
    return undefined;
  };
}
