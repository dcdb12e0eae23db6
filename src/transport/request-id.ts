import type { MiddlewareHandler } from 'hono';
import type { Ids } from '../ledger/kernel/ids.ts';

export const REQUEST_ID_HEADER = 'x-request-id';

export interface RequestVariables {
  requestId: string;
}

const GRAMMAR = /^[A-Za-z0-9_-]{8,64}$/;

/** Names every request: by the id that its sender gave it, if that is a plain one, so that logs of both can be matched. */
export function nameRequests(ids: Pick<Ids, 'token'>): MiddlewareHandler<{ Variables: RequestVariables }> {
  return async (context, next) => {
    const given = context.req.header(REQUEST_ID_HEADER);
    const requestId = given !== undefined && GRAMMAR.test(given) ? given : ids.token();
    context.set('requestId', requestId);
    await next();
    context.res.headers.set(REQUEST_ID_HEADER, requestId);
  };
}
