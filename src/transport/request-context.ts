import type { Viewer } from '../auth/viewer.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Realtime } from '../realtime/sources.ts';
import { createLoaders } from '../resolvers/loaders.ts';
import type { RequestContext } from '../schema/context.ts';

/** What all requests of a process share. */
export interface RequestSurroundings {
  readonly ledger: Ledger;
  readonly realtime: Realtime;
  readonly metrics: Metrics;
  readonly logger: Pick<Logger, 'info'>;
}

/** The context of one request, over HTTP or a socket. Each gets an object of its own: Yoga writes into it. */
export function createRequestContext(
  surroundings: RequestSurroundings,
  viewer: Viewer,
  requestId: string,
): RequestContext {
  return { ...surroundings, viewer, requestId, load: createLoaders(surroundings.ledger, viewer) };
}
