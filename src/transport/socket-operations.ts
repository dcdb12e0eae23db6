import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import type { Logger } from '../observability/logger.ts';
import type { SocketOperations, SocketRequest } from '../realtime/sockets/socket-sessions.ts';
import type { RequestContext } from '../schema/context.ts';
import type { GraphqlServer } from './graphql-server.ts';
import { publicError } from './public-error.ts';
import { type RequestSurroundings, createRequestContext } from './request-context.ts';

export interface SocketOperationsOptions {
  readonly server: GraphqlServer;
  readonly surroundings: RequestSurroundings;
  readonly logger: Logger;
  readonly suggestions: boolean;
}

type Results = AsyncIterable<ExecutionResult> | ExecutionResult;

/** How sockets run operations: by the functions that serve HTTP, limits and masking included. */
export function createSocketOperations(options: SocketOperationsOptions): SocketOperations {
  const enveloped = new WeakMap<object, Enveloped>();
  const of = ({ contextValue }: ExecutionArgs): Enveloped => {
    const own = enveloped.get(contextValue as object);
    if (own === undefined) throw new Error('an operation that was not prepared');
    return own;
  };
  return {
    prepare: async (request) => {
      const context = createRequestContext(options.surroundings, request.viewer, request.requestId);
      const functions = envelop(options.server, context);
      try {
        const prepared = await prepare(functions, request);
        if (!('document' in prepared)) return prepared.map((error) => show(error, request, options));
        enveloped.set(prepared.contextValue as object, functions);
        return prepared;
      } catch (error) {
        return [show(error, request, options)];
      }
    },
    execute: (args) => of(args).execute(args),
    subscribe: (args) => of(args).subscribe(args),
  };
}

/** The engine's functions for one request, as graphql-js has them; Yoga types them as `any`. */
interface Enveloped {
  readonly schema: GraphQLSchema;
  readonly parse: (text: string) => DocumentNode;
  readonly validate: (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];
  readonly contextFactory: () => unknown;
  readonly execute: (args: ExecutionArgs) => Promise<Results> | Results;
  readonly subscribe: (args: ExecutionArgs) => Promise<Results> | Results;
}

function envelop(server: GraphqlServer, context: RequestContext): Enveloped {
  const { getEnveloped } = server;
  // The HTTP parts of Yoga's context (request, params) are what no plugin of ours reads.
  return getEnveloped(context as Parameters<typeof getEnveloped>[0]);
}

async function prepare(
  { schema, parse, validate, contextFactory }: Enveloped,
  { query, operationName, variables }: SocketRequest,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const document = parse(query);
  const errors = validate(schema, document);
  if (errors.length > 0) return errors;
  return {
    schema,
    document,
    operationName: operationName ?? null,
    variableValues: variables ?? null,
    contextValue: await contextFactory(),
  };
}

function show(
  error: unknown,
  { requestId }: SocketRequest,
  { logger, suggestions }: SocketOperationsOptions,
): GraphQLError {
  return publicError(error, { requestId, log: logger, suggestions });
}
