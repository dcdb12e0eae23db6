import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import type { Logger } from '../observability/logger.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { ERROR_CODES } from '../schema/errors.ts';
import { withoutValues } from './without-values.ts';

export interface PublicErrorOptions {
  readonly requestId: string;
  readonly log: Logger;
  /** Whether messages may name fields and types that the client didn't: "Did you mean …?". */
  readonly suggestions: boolean;
}

const CODES: readonly unknown[] = ERROR_CODES;

/**
 * What a client may see of an error (contract.graphql): one of five codes. What GraphQL itself has against a request is
 * BAD_REQUEST; what a resolver threw, and didn't mean for clients, is INTERNAL with the request's id and goes to the log.
 */
export function publicError(error: unknown, options: PublicErrorOptions): GraphQLError {
  if (error instanceof GraphQLError) {
    const { code, http, requestId, retryAfterMs } = error.extensions;
    // Ours already, or masked before: the same again.
    if (CODES.includes(code))
      return shown(error, options, { code, http: alwaysSaid(http), requestId, retryAfterMs });
    if (isAboutTheRequest(error)) return shown(error, options, { code: 'BAD_REQUEST', http });
  }
  const { requestId, log } = options;
  log.error('a request failed', { requestId }, causeOf(error));
  const place = error instanceof GraphQLError ? placeOf(error) : {};
  // Without a path nothing was answered at all.
  const http = Array.isArray(place.path) ? {} : { http: { status: 500 } };
  return new GraphQLError('Internal error.', {
    ...place,
    extensions: { code: 'INTERNAL', requestId, ...http },
  });
}

/** Parsing, validation and variables fail before any resolver runs: such an error has no path, and nothing of ours behind it. */
function isAboutTheRequest({ path, originalError }: GraphQLError): boolean {
  return path === undefined && (originalError === undefined || originalError instanceof GraphQLError);
}

function causeOf(error: unknown): unknown {
  return error instanceof GraphQLError ? (error.originalError ?? error) : error;
}

/**
 * The status of a body that isn't a request at all is said whatever the client accepts. That of a document which isn't valid
 * (`spec`) is 200 in `application/json`, as GraphQL over HTTP has it.
 */
function alwaysSaid(http: unknown): unknown {
  return typeof http === 'object' && http !== null ? { ...http, spec: false } : undefined;
}

/** With these extensions and no others: Yoga's quote the body that it couldn't read. */
function shown(
  error: GraphQLError,
  { suggestions }: PublicErrorOptions,
  extensions: Readonly<Record<string, unknown>>,
): GraphQLError {
  const message = suggestions ? error.message : error.message.replace(/ Did you mean .*\?$/s, '');
  return new GraphQLError(withoutValues(message), { ...placeOf(error), extensions: defined(extensions) });
}

/** Where in the document and in the result it is. */
function placeOf({ nodes, source, positions, path }: GraphQLError): GraphQLErrorOptions {
  return {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
  };
}
