import { type ExecutionResult, GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { type Plugin, isAsyncIterable } from 'graphql-yoga';
import { defined } from '../ledger/kernel/defined.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { RequestContext } from '../schema/context.ts';
import { ERROR_CODES } from '../schema/errors.ts';
import { argumentPathOf } from './argument-path.ts';

export interface PublicErrorOptions {
  readonly requestId: string;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'count'>;
  /** Whether messages may name fields and types that the client didn't: "Did you mean …?". */
  readonly suggestions: boolean;
}

/** Shows clients the public form of every error, over HTTP and on sockets: of single results and of each event of a stream. */
export function maskErrors(
  options: Omit<PublicErrorOptions, 'requestId'>,
): Plugin<RequestContext, RequestContext> {
  const mask = (result: ExecutionResult, { requestId }: RequestContext): ExecutionResult =>
    result.errors === undefined
      ? result
      : { ...result, errors: result.errors.map((error) => publicError(error, { ...options, requestId })) };
  return {
    onExecute: ({ args: { contextValue } }) => ({
      onExecuteDone: ({ result, setResult }) => {
        if (!isAsyncIterable(result)) setResult(mask(result, contextValue));
      },
    }),
    onSubscribe: ({ args: { contextValue } }) => ({
      onSubscribeError: ({ error, setError }) => {
        setError(publicError(error, { ...options, requestId: contextValue.requestId }));
      },
      onSubscribeResult: (payload) => {
        const { result } = payload;
        // Where no stream begins, its errors are a result.
        if (!isAsyncIterable(result)) payload.setResult(mask(result, contextValue));
        return {
          onNext: (next) => {
            if (!isAsyncIterable(next.result)) next.setResult(mask(next.result, contextValue));
          },
        };
      },
    }),
    // What never came to be executed, such as a body that Yoga couldn't read: HTTP alone has that.
    onResultProcess: (payload) => {
      const { result, serverContext } = payload;
      if (!Array.isArray(result) && !isAsyncIterable(result)) payload.setResult(mask(result, serverContext));
    },
  };
}

const CODES: readonly unknown[] = ERROR_CODES;

/**
 * What a client may see of an error (contract.graphql): one of five codes. GraphQL's own error about a request is
 * BAD_REQUEST. Any other error, such as one that a resolver threw, is INTERNAL with the request's id, and goes to the log.
 */
export function publicError(error: unknown, options: PublicErrorOptions): GraphQLError {
  if (error instanceof GraphQLError) {
    const { code, http, requestId, retryAfterMs } = error.extensions;
    // Ours already, or masked before: the same again.
    if (CODES.includes(code))
      return shown(error, options, { code, http: alwaysSaid(http), requestId, retryAfterMs });
    if (isAboutTheRequest(error))
      return shown(error.originalError === undefined ? error : unquoted(error), options, {
        code: 'BAD_REQUEST',
        http: http ?? NOT_EXECUTED,
      });
  }
  const { requestId, log, metrics } = options;
  const known = error instanceof GraphQLError ? error : undefined;
  metrics.count('InternalError');
  log.error('a request failed', { requestId }, known?.originalError ?? error);
  // Without a path nothing was answered at all.
  const http = known?.path === undefined ? { http: { status: 500 } } : {};
  return new GraphQLError('Internal error.', {
    ...(known === undefined ? {} : placeOf(known)),
    extensions: { code: 'INTERNAL', requestId, ...http },
  });
}

/** GraphQL over HTTP: a request error is 400 in the media type of its own, 200 in plain JSON. Yoga says so of all but variables. */
const NOT_EXECUTED = { status: 400, spec: true };

/** Parsing, validation and variables fail before any resolver runs: such an error has no path and no cause of ours. */
function isAboutTheRequest({ path, originalError }: GraphQLError): boolean {
  return path === undefined && (originalError === undefined || originalError instanceof GraphQLError);
}

/**
 * Values are judged before GraphQL looks at them (`value-errors.ts`). Should it refuse one nevertheless, its error has a cause,
 * and its message quotes the value.
 */
function unquoted(error: GraphQLError): GraphQLError {
  return new GraphQLError('A value is not of the type that is expected.', placeOf(error));
}

/**
 * A body that isn't a request at all gets its status whatever the client accepts. Yoga gives errors that are `spec` status 200
 * in `application/json`, as GraphQL over HTTP demands of a document that isn't valid.
 */
function alwaysSaid(http: unknown): unknown {
  return typeof http === 'object' && http !== null ? { ...http, spec: false } : undefined;
}

/** Longer than any message of ours. A name in a document may be as long as the document, and so may be GraphQL's message of it. */
const MAX_MESSAGE_CHARS = 1_000;

/** The error with these extensions and no others: Yoga's quote the body that it couldn't read. */
function shown(
  error: GraphQLError,
  { suggestions }: PublicErrorOptions,
  extensions: Readonly<Record<string, unknown>>,
): GraphQLError {
  const text = error.message.slice(0, MAX_MESSAGE_CHARS);
  const [withoutSuggestions = ''] = text.split(' Did you mean ', 1);
  const known = error.extensions['argument'] ?? argumentPathOf(error);
  const argument = extensions['code'] === 'BAD_REQUEST' ? known : undefined;
  return new GraphQLError(suggestions ? text : withoutSuggestions, {
    ...placeOf(error),
    extensions: defined({ ...extensions, argument }),
  });
}

/** Where in the document and in the result it is. */
function placeOf({ nodes, source, positions, path }: GraphQLError): GraphQLErrorOptions {
  return { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
}
