import type { ErrorCode } from '../schema/errors.ts';

/**
 * A refusal of an HTTP request that never became a GraphQL one, in the form of GraphQL's errors. NOT_FOUND is a path's alone:
 * GraphQL answers null for what isn't there.
 */
export function refusal(
  status: number,
  code: ErrorCode | 'NOT_FOUND',
  message: string,
  headers: Readonly<Record<string, string>> = {},
  extensions: Readonly<Record<string, unknown>> = {},
): Response {
  return Response.json(
    { errors: [{ message, extensions: { code, ...extensions } }] },
    { status, headers: { ...headers } },
  );
}
