import type { ErrorCode } from '../schema/errors.ts';

/** A refusal of an HTTP request that never became a GraphQL one, in the form of GraphQL's errors. */
export function refusal(
  status: number,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  extensions: Readonly<Record<string, unknown>> = {},
): Response {
  return Response.json(
    { errors: [{ message, extensions: { code, ...extensions } }] },
    { status, headers: { ...headers } },
  );
}
