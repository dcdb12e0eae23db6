import type { Server } from 'node:http';
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { createTokenVerifier } from '../auth/token.ts';
import { type Composition, type LedgerOverrides, composeLedger } from './compose-ledger.ts';
import type { Config } from '../config/config.ts';
import type { OrderRef } from '../ledger/kernel/keys.ts';
import { orderKey } from '../ledger/kernel/keys.ts';
import { readOrder } from '../ledger/items/order-item.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import type { Store } from '../ledger/table/store.ts';
import { type RealtimeSettings, createRealtime } from '../realtime/create-realtime.ts';
import type { SocketLimits } from '../realtime/sockets/socket-sessions.ts';
import { type SocketServer, attachWebSocketServer } from '../realtime/sockets/socket-server.ts';
import { systemTimers } from '../realtime/timers.ts';
import { createSchema } from '../schema/schema.ts';
import type { DocumentLimits } from '../transport/document-limits.ts';
import { type GraphiqlPageOptions, graphiqlPage } from '../transport/graphiql-page.ts';
import { graphqlRoute } from '../transport/graphql-route.ts';
import { GRAPHQL_PATH, type GraphqlServer, createGraphqlServer } from '../transport/graphql-server.ts';
import { healthRoutes } from '../transport/health-routes.ts';
import type { Rates } from '../transport/limit-rates.ts';
import { type RequestSurroundings, createRequestContext } from '../transport/request-context.ts';
import { type RequestVariables, nameRequests } from '../transport/request-id.ts';
import { refusal } from '../transport/responses.ts';
import { createSocketOperations } from '../transport/socket-operations.ts';
import { stripeWebhook } from '../webhooks/stripe.ts';

export interface AppOverrides extends LedgerOverrides {
  /** What GraphiQL fills in: development only. */
  readonly graphiql?: GraphiqlPageOptions;
  /** What `/` answers: development only. */
  readonly homePage?: () => Promise<Response>;
  readonly rates?: Partial<Rates>;
  readonly documentLimits?: Partial<DocumentLimits>;
  readonly realtime?: Partial<RealtimeSettings>;
  readonly sockets?: Partial<SocketLimits>;
}

/** The gateway without its port: a handler of requests, and what takes over a server's sockets. */
export interface App extends Composition {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Serves GraphQL over WebSocket on a server whose requests go to `fetch`. */
  readonly attachSockets: (server: Server) => SocketServer;
  /** From now on `/readyz` says 503, so that load balancers look elsewhere. */
  readonly startDraining: () => void;
}

/** The composition root: the one place where adapters meet ports. Reads no environment and opens no port. */
export function createApp(config: Config, overrides: AppOverrides = {}): App {
  const composition = composeLedger(config, overrides);
  const { ledger, logger, metrics } = composition;
  const { clock, ids, bus } = ledger;
  const verifier = createTokenVerifier(config, ledger.tenants);
  const realtime = createRealtime({
    bus,
    readOrder: orderReader(ledger.store),
    clock,
    ids,
    timers: systemTimers,
    logger,
    metrics,
    ...(overrides.realtime === undefined ? {} : { settings: overrides.realtime }),
  });
  const surroundings = { ledger, realtime, metrics, logger };
  const server = createGraphqlServer({
    schema: createSchema({ idempotencyKeyPhase: config.idempotencyKeyPhase }),
    introspection: config.graphiql,
    clock,
    logger,
    metrics,
    ...(overrides.rates === undefined ? {} : { rates: overrides.rates }),
    ...(overrides.documentLimits === undefined ? {} : { documentLimits: overrides.documentLimits }),
  });
  let draining = false;
  const routes = createRoutes({
    config,
    composition,
    server,
    surroundings,
    verifier,
    isDraining: () => draining,
    overrides,
  });
  return {
    ...composition,
    fetch: (request) => routes.fetch(request),
    startDraining: () => {
      draining = true;
    },
    attachSockets: (httpServer) =>
      attachWebSocketServer({
        server: httpServer,
        path: GRAPHQL_PATH,
        corsOrigins: config.corsOrigins,
        verifier,
        operations: createSocketOperations({ server, surroundings, logger, suggestions: config.graphiql }),
        clock,
        ids,
        timers: systemTimers,
        logger,
        metrics,
        ...(overrides.sockets === undefined ? {} : { limits: overrides.sockets }),
      }),
  };
}

interface RoutesOptions {
  readonly config: Config;
  readonly composition: Composition;
  readonly server: GraphqlServer;
  readonly surroundings: RequestSurroundings;
  readonly verifier: ReturnType<typeof createTokenVerifier>;
  readonly isDraining: () => boolean;
  readonly overrides: Pick<AppOverrides, 'graphiql' | 'homePage'>;
}

function createRoutes(options: RoutesOptions): Hono<{ Variables: RequestVariables }> {
  const { config, composition, server, surroundings, verifier, isDraining, overrides } = options;
  const { ledger, logger, metrics } = composition;
  const app = new Hono<{ Variables: RequestVariables }>();
  app.use(nameRequests(ledger.ids));
  app.use(secureHeaders());
  app.route('/', healthRoutes({ ledger, metrics, logger, isDraining }));
  app.route('/', stripeWebhook({ ledger, logger, metrics }));
  app.route(
    '/',
    graphqlRoute({
      server,
      verifier,
      createContext: (viewer, requestId) => createRequestContext(surroundings, viewer, requestId),
      clock: ledger.clock,
      logger,
      metrics,
      corsOrigins: config.corsOrigins,
      graphiqlPage: config.graphiql ? graphiqlPage(overrides.graphiql ?? {}) : undefined,
    }),
  );
  const { homePage } = overrides;
  if (homePage !== undefined) app.get('/', () => homePage());
  app.notFound(() => refusal(404, 'NOT_FOUND', 'There is nothing here.'));
  app.onError((error, context) => {
    const { requestId } = context.var;
    logger.error('a request failed', { requestId }, error);
    return refusal(500, 'INTERNAL', 'Internal error.', {}, { requestId });
  });
  return app;
}

/** A consistent read, whoever asks: subscriptions judge access on what it gives. */
function orderReader(store: Store): (ref: OrderRef) => Promise<Order | undefined> {
  return async (ref) => {
    const [item] = await store.get([orderKey(ref)]);
    return item === undefined ? undefined : readOrder(item);
  };
}
