import { type GraphQLSchema, execute } from 'graphql';
import { type Plugin, type YogaServerInstance, createYoga, useExecutionCancellation } from 'graphql-yoga';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { accessScope, createSharedSubscribe } from '../realtime/shared-execution.ts';
import type { RequestContext } from '../schema/context.ts';
import { DEFAULT_DOCUMENT_LIMITS, type DocumentLimits, limitDocuments } from './document-limits.ts';
import { measureRequests } from './measure-requests.ts';
import { maskErrors } from './public-error.ts';
import { DEFAULT_RATES, type Rates, createRateLimiter, limitRates } from './rate-limit.ts';
import { readBodies, requireEventStream } from './unacceptable-request.ts';

export const GRAPHQL_PATH = '/graphql';

export interface GraphqlServerOptions {
  readonly schema: GraphQLSchema;
  /** Whether clients may read the schema, and whether errors suggest names: "Did you mean …?". */
  readonly introspection: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly documentLimits?: Partial<DocumentLimits>;
  readonly rates?: Partial<Rates>;
}

export type GraphqlServer = YogaServerInstance<RequestContext, RequestContext>;

/**
 * What turns a document into an answer: limits, execution, masking; the same for HTTP and for sockets. The client's token and
 * the form of its HTTP request are checked before (`graphql-route.ts`).
 */
export function createGraphqlServer(options: GraphqlServerOptions): GraphqlServer {
  const { schema, introspection, clock, logger, metrics } = options;
  return createYoga<RequestContext, RequestContext>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    // Without these two a source isn't told when its SSE client leaves.
    fetchAPI: { Response, ReadableStream },
    plugins: [
      readBodies(),
      useExecutionCancellation(),
      maskErrors({ log: logger, metrics, suggestions: introspection }),
      requireEventStream(),
      limitDocuments({ ...DEFAULT_DOCUMENT_LIMITS, ...options.documentLimits }, introspection),
      limitRates(createRateLimiter(clock), { ...DEFAULT_RATES, ...options.rates }, metrics),
      measureRequests(options),
      useReferenceEngine(),
    ],
    maskedErrors: false,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
  });
}

/**
 * GraphQL's own executor: Yoga's gives fields in the order in which they were ready, not in the order of the document. An event
 * is executed once for all subscribers that send the same document and may see the same.
 */
function useReferenceEngine(): Plugin<RequestContext, RequestContext> {
  const subscribe = createSharedSubscribe(scopeOf);
  return {
    onExecute: ({ setExecuteFn }) => {
      setExecuteFn(execute);
    },
    onSubscribe: ({ setSubscribeFn }) => {
      setSubscribeFn(subscribe);
    },
  };
}

function scopeOf(contextValue: unknown): string | undefined {
  // Every context is made by createRequestContext; the engine hands it around as unknown.
  const { viewer } = contextValue as Partial<RequestContext>;
  return viewer === undefined ? undefined : accessScope(viewer);
}
