import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import type { RefusalReason, TokenVerifier } from '../auth/token.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { RequestContext } from '../schema/context.ts';
import { GRAPHQL_PATH, type GraphqlServer } from './graphql-server.ts';
import { limitInFlight } from './requests-in-flight.ts';
import { type RequestVariables, REQUEST_ID_HEADER } from './request-context.ts';
import { refusal } from './responses.ts';
import { CSRF_HEADER, LEFT_UNREAD, unacceptable } from './unacceptable-request.ts';

/** More than any document and its variables need: ninety-nine lines are a few kilobytes. */
const MAX_BODY_BYTES = 128 * 1024;

export interface GraphqlRouteOptions {
  readonly server: GraphqlServer;
  readonly verifier: TokenVerifier;
  readonly createContext: (viewer: Viewer, requestId: string) => RequestContext;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** How many requests are read and answered at a time. */
  readonly maxInFlight: number;
  readonly isAllowedOrigin: (origin: string) => boolean;
  /** GraphiQL's page, where it is served. */
  readonly graphiqlPage?: ((request: Request) => Response) | undefined;
}

/**
 * `/graphql` over HTTP: POST with a JSON body and nothing else; with `accept: text/event-stream` the answer is a stream of
 * events. No forms and no GET: a foreign page could send those by itself (docs/DESIGN.md §11, FIELD-CASES C60).
 */
export function graphqlRoute(options: GraphqlRouteOptions): Hono<{ Variables: RequestVariables }> {
  const app = new Hono<{ Variables: RequestVariables }>();
  app.use(
    GRAPHQL_PATH,
    cors({
      origin: (origin) => (options.isAllowedOrigin(origin) ? origin : undefined),
      allowMethods: ['POST'],
      allowHeaders: ['authorization', 'content-type', CSRF_HEADER, REQUEST_ID_HEADER],
      exposeHeaders: [REQUEST_ID_HEADER, 'retry-after'],
      maxAge: 600,
    }),
  );
  app.use(GRAPHQL_PATH, async (context, next) => {
    await next();
    inTheTypeAskedFor(context.req.header('accept') ?? '', context.res);
  });
  app.post(
    GRAPHQL_PATH,
    async (context, next) => {
      const refused = unacceptable(context.req.raw.headers);
      if (refused === undefined) await next();
      return refused;
    },
    limitInFlight('graphql', options.maxInFlight, options.metrics),
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: () => refusal(413, 'BAD_REQUEST', 'The body is too large.', LEFT_UNREAD),
    }),
    (context) => answer(options, context),
  );
  app.all(GRAPHQL_PATH, (context) => {
    const { graphiqlPage } = options;
    const wantsPage = context.req.method === 'GET' && context.req.header('accept')?.includes('text/html');
    if (wantsPage === true && graphiqlPage !== undefined) return graphiqlPage(context.req.raw);
    return refusal(405, 'BAD_REQUEST', 'GraphQL is sent by POST.', { allow: 'POST' });
  });
  return app;
}

/**
 * Clients read the code of an error from `application/graphql-response+json` at any status, and from plain JSON at 200 alone. So
 * what refuses a request before GraphQL sees it has the type that was asked for, as answers of GraphQL have.
 */
function inTheTypeAskedFor(accept: string, { status, headers }: Response): void {
  const isRefusal = status >= 400 && headers.get('content-type')?.startsWith('application/json') === true;
  if (isRefusal && accept.toLowerCase().includes(GRAPHQL_RESPONSE))
    headers.set('content-type', `${GRAPHQL_RESPONSE}; charset=utf-8`);
}

const GRAPHQL_RESPONSE = 'application/graphql-response+json';

/**
 * RFC 6750: a client without a token is asked for one. Of a bad token only its times are told, since a fresh token or a moment's
 * wait mends those; what else is wrong with it could help somebody who stole it.
 */
function unauthenticated(reason: RefusalReason): Response {
  const [message, challenge] = CHALLENGES[reason] ?? [
    'A valid token is needed.',
    'Bearer error="invalid_token"',
  ];
  const retry = reason === 'NOT_YET' ? { 'retry-after': '5' } : {};
  return refusal(401, 'UNAUTHENTICATED', message, { 'www-authenticate': challenge, ...retry });
}

const CHALLENGES: Partial<Readonly<Record<RefusalReason, readonly [message: string, challenge: string]>>> = {
  MISSING: ['A token is needed.', 'Bearer'],
  EXPIRED: [
    'The token has expired.',
    'Bearer error="invalid_token", error_description="the token has expired"',
  ],
  NOT_YET: [
    'The token is not valid yet.',
    'Bearer error="invalid_token", error_description="the token is not valid yet"',
  ],
};

/** A proxy that gathered a stream of events, or packed it, would hold each of them back: nginx does unless it is told. */
function unbuffered(response: Response): Response {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    response.headers.set('x-accel-buffering', 'no');
    response.headers.set('cache-control', 'no-store, no-transform');
  }
  return response;
}

async function answer(
  options: GraphqlRouteOptions,
  context: Context<{ Variables: RequestVariables }>,
): Promise<Response> {
  const { server, verifier, createContext, clock, logger, metrics } = options;
  const requestId = context.var.requestId;
  const verdict = await verifier.verify(context.req.header('authorization'), clock.nowMs());
  switch (verdict.kind) {
    case 'VIEWER':
      return unbuffered(await server.fetch(context.req.raw, createContext(verdict.viewer, requestId)));
    case 'REFUSED':
      metrics.count('TokenRefused', { reason: verdict.reason });
      return unauthenticated(verdict.reason);
    case 'UNAVAILABLE':
      // Nobody knows whether the token is good. A 401 would make the client throw it away.
      logger.error('tokens can not be checked: their keys are out of reach', { requestId });
      return refusal(503, 'INTERNAL', 'Internal error.', { 'retry-after': '5' }, { requestId });
  }
}
