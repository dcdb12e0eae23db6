import type { DocumentNode, ExecutionArgs, GraphQLError, GraphQLSchema } from 'graphql';
import type { SocketOperations, SocketRequest } from '../realtime/sockets/socket-sessions.ts';
import type { GraphqlServer } from './graphql-server.ts';
import { type PublicErrorOptions, publicError } from './public-error.ts';
import { type SharedContext, createRequestContext } from './request-context.ts';

export interface SocketOperationsOptions extends Omit<PublicErrorOptions, 'requestId' | 'metrics'> {
  readonly server: GraphqlServer;
  readonly shared: SharedContext;
}

/** How sockets run operations: by the functions that serve HTTP, limits and masking included. */
export function createSocketOperations(options: SocketOperationsOptions): SocketOperations {
  const { getEnveloped } = options.server;
  const functionsOf = new WeakMap<object, EngineFunctions>();
  const preparedFor = ({ contextValue }: ExecutionArgs): EngineFunctions => {
    const functions = functionsOf.get(contextValue as object);
    if (functions === undefined) throw new Error('an operation that was not prepared');
    return functions;
  };
  return {
    prepare: async (request) => {
      const { viewer, requestId } = request;
      const { metrics } = options.shared;
      const shown = (error: unknown): GraphQLError => publicError(error, { ...options, metrics, requestId });
      const context = createRequestContext(options.shared, viewer, requestId);
      // The HTTP parts of Yoga's context (request, params) are what no plugin of ours reads.
      const functions: EngineFunctions = getEnveloped(context as Parameters<typeof getEnveloped>[0]);
      try {
        const prepared = await prepare(functions, request);
        if (!('document' in prepared)) return prepared.map(shown);
        functionsOf.set(prepared.contextValue as object, functions);
        return prepared;
      } catch (error) {
        return [shown(error)];
      }
    },
    execute: (args) => preparedFor(args).execute(args),
    subscribe: (args) => preparedFor(args).subscribe(args),
  };
}

/** The engine's functions for one request, as graphql-js has them; Yoga types them as `any`. */
interface EngineFunctions extends Pick<SocketOperations, 'execute' | 'subscribe'> {
  readonly schema: GraphQLSchema;
  readonly parse: (text: string) => DocumentNode;
  readonly validate: (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];
  readonly contextFactory: () => unknown;
}

async function prepare(
  { schema, parse, validate, contextFactory }: EngineFunctions,
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
