import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RequestContext } from '../schema/context.ts';
import type { ErrorCode } from '../schema/errors.ts';

/**
 * A refusal of an HTTP request that never became a GraphQL one, in the form of GraphQL's errors. Only a path can be NOT_FOUND:
 * GraphQL answers null for an object that isn't there.
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

/** A valid document that is about to run: what our checks read of GraphQL's arguments, which Yoga types as `any`. */
export interface Execution {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
  /** Yoga adds the HTTP request, where there is one. */
  readonly contextValue: RequestContext & { readonly request?: Request };
}

/** Stops an operation before any resolver runs, over HTTP and on sockets, if `check` gives an error for it, or several. */
export function refuseOperations(
  check: (execution: Execution) => GraphQLError | readonly GraphQLError[] | undefined,
): Required<Pick<Plugin<RequestContext, RequestContext>, 'onExecute' | 'onSubscribe'>> {
  const refuse = (hook: {
    readonly args: Execution;
    readonly setResultAndStopExecution: (result: { readonly errors: GraphQLError[] }) => void;
  }): void => {
    const errors = [check(hook.args) ?? []].flat();
    if (errors.length > 0) hook.setResultAndStopExecution({ errors });
  };
  return { onExecute: refuse, onSubscribe: refuse };
}
