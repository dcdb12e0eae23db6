import type { MiddlewareHandler } from 'hono';
import type { Viewer } from '../auth/viewer.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Realtime } from '../realtime/sources.ts';
import { createLoaders } from '../resolvers/loaders.ts';
import type { RequestContext } from '../schema/context.ts';

/** What all requests of a process share. */
export interface SharedContext {
  readonly ledger: Ledger;
  readonly realtime: Realtime;
  readonly metrics: Metrics;
  readonly logger: Pick<Logger, 'info'>;
}

/** The context of one request, over HTTP or a socket. Each gets an object of its own: Yoga writes into it. */
export function createRequestContext(
  shared: SharedContext,
  viewer: Viewer,
  requestId: string,
): RequestContext {
  return { ...shared, viewer, requestId, load: createLoaders(shared.ledger, viewer) };
}

export const REQUEST_ID_HEADER = 'x-request-id';

export interface RequestVariables {
  requestId: string;
}

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/;

/** Gives every request an id: the one that its sender gave it, if that is a plain one, so that logs of both can be matched. */
export function nameRequests(ids: Pick<Ids, 'token'>): MiddlewareHandler<{ Variables: RequestVariables }> {
  return async (context, next) => {
    const given = context.req.header(REQUEST_ID_HEADER);
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : ids.token();
    context.set('requestId', requestId);
    await next();
    context.res.headers.set(REQUEST_ID_HEADER, requestId);
  };
}
