import type { Server } from 'node:http';
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { createTokenVerifier } from '../auth/token.ts';
import { type Composition, type LedgerOverrides, composeLedger } from './compose-ledger.ts';
import type { Config } from '../config/config.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { type OrderRef, orderKey } from '../ledger/kernel/keys.ts';
import { readOrder } from '../ledger/items/order-item.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import type { Store } from '../ledger/table/store.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { SocketLimits } from '../realtime/sockets/socket-sessions.ts';
import { type SocketServer, attachWebSocketServer } from '../realtime/sockets/socket-server.ts';
import { type RealtimeSettings, createRealtime } from '../realtime/sources.ts';
import { systemTimers } from '../realtime/timers.ts';
import { createSchema } from '../schema/schema.ts';
import type { DocumentLimits } from '../transport/document-limits.ts';
import { type GraphiqlPageOptions, graphiqlPage } from '../transport/graphiql-page.ts';
import { graphqlRoute } from '../transport/graphql-route.ts';
import { GRAPHQL_PATH, createGraphqlServer } from '../transport/graphql-server.ts';
import { healthRoutes } from '../transport/health-routes.ts';
import { callerRules, refuseForeignHosts } from '../transport/caller-rules.ts';
import type { Rates } from '../transport/rate-limit.ts';
import {
  type RequestVariables,
  type SharedContext,
  createRequestContext,
  nameRequests,
} from '../transport/request-context.ts';
import { limitInFlight } from '../transport/requests-in-flight.ts';
import { refusal } from '../transport/responses.ts';
import { createSocketOperations } from '../transport/socket-operations.ts';
import { stripeWebhook } from '../webhooks/stripe.ts';

export interface AppOverrides extends LedgerOverrides {
  /** What GraphiQL fills in: development only. */
  readonly graphiql?: GraphiqlPageOptions;
  /** Pages by their paths, for people who look around: development only. */
  readonly pages?: Readonly<Record<string, () => Promise<Response>>>;
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
  const { clock, ids, bus, store, tenants } = ledger;
  const { graphiql: introspection } = config;
  const common = { clock, ids, logger, metrics, timers: systemTimers, ...callerRules(config) };
  const verifier = createTokenVerifier(config, tenants, common);
  const realtime = createRealtime({ ...common, bus, readOrder: orderReader(store) }, overrides.realtime);
  const shared: SharedContext = { ledger, realtime, metrics, logger };
  const server = createGraphqlServer({
    ...common,
    schema: createSchema({ idempotencyKeyPhase: config.idempotencyKeyPhase }),
    introspection,
    ...defined({ rates: overrides.rates, documentLimits: overrides.documentLimits }),
  });
  let draining = false;
  const app = new Hono<{ Variables: RequestVariables }>();
  app.use(nameRequests(ids));
  app.use(secureHeaders());
  app.route(
    '/',
    healthRoutes({
      ...common,
      ledger,
      isDraining: () => draining,
      keySetStatus: verifier.keySetStatus,
    }),
  );
  app.use(refuseForeignHosts(common.isOwnHost));
  app.route('/', webhookRoute(config, composition));
  app.route(
    '/',
    graphqlRoute({
      ...common,
      server,
      verifier,
      maxInFlight: config.maxRequestsInFlight,
      createContext: (viewer, requestId) => createRequestContext(shared, viewer, requestId),
      graphiqlPage: introspection ? graphiqlPage(overrides.graphiql ?? {}) : undefined,
    }),
  );
  answerTheRest(app, overrides.pages, { logger, metrics });
  return {
    ...composition,
    fetch: (request) => app.fetch(request),
    startDraining: () => {
      draining = true;
    },
    attachSockets: (httpServer) =>
      attachWebSocketServer({
        ...common,
        server: httpServer,
        path: GRAPHQL_PATH,
        verifier,
        operations: createSocketOperations({ server, shared, log: logger, suggestions: introspection }),
        ...defined({ limits: overrides.sockets }),
      }),
  };
}

function webhookRoute(
  { maxWebhooksInFlight }: Config,
  { ledger, logger, metrics }: Composition,
): ReturnType<typeof stripeWebhook> {
  const limit = limitInFlight('webhook', maxWebhooksInFlight, metrics);
  return stripeWebhook({ ledger, logger, metrics, limitInFlight: limit });
}

/** What no other route answers: pages of development, paths that don't exist, and errors that nobody caught. */
function answerTheRest(
  app: Hono<{ Variables: RequestVariables }>,
  pages: AppOverrides['pages'],
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
): void {
  for (const [path, page] of Object.entries(pages ?? {})) app.get(path, () => page());
  app.notFound(() => refusal(404, 'NOT_FOUND', 'There is nothing here.'));
  app.onError((error, context) => {
    const { requestId } = context.var;
    metrics.count('InternalError');
    logger.error('a request failed', { requestId }, error);
    return refusal(500, 'INTERNAL', 'Internal error.', {}, { requestId });
  });
}

/** A consistent read without a check of access: subscriptions check it on the order that they get. */
function orderReader(store: Store): (ref: OrderRef) => Promise<Order | undefined> {
  return async (ref) => {
    const [item] = await store.get([orderKey(ref)]);
    return item === undefined ? undefined : readOrder(item);
  };
}
