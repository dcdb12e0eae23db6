import { GraphQLError, type GraphQLErrorOptions } from 'graphql';

/** The codes of errors outside the unions (contract.graphql). */
export const ERROR_CODES = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'BAD_REQUEST',
  'RATE_LIMITED',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The role may never do this, whatever the object. */
export function forbidden(): GraphQLError {
  return new GraphQLError('Your role may not do this.', { extensions: { code: 'FORBIDDEN' } });
}

/**
 * The request itself is wrong, before any operation saw it. `status` is that of the HTTP answer, if it isn't GraphQL's usual one;
 * `nodes` says where in the document the error is.
 */
export function badRequest(
  message: string,
  { status, nodes }: { readonly status?: number; readonly nodes?: GraphQLErrorOptions['nodes'] } = {},
): GraphQLError {
  const http = status === undefined ? {} : { http: { status } };
  return new GraphQLError(message, { nodes: nodes ?? null, extensions: { code: 'BAD_REQUEST', ...http } });
}
