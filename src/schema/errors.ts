import { GraphQLError } from 'graphql';

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

/** The request itself is wrong, before any operation saw it. */
export function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_REQUEST' } });
}
