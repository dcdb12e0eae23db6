import { type AnyVariables, type Client, type TypedDocumentNode, createRequest } from '@urql/core';
import { OperationTypeNode, getOperationAST } from 'graphql';

/** How a request ended. Only DATA says what became of it; UNKNOWN may have happened or not. */
export type Sent<Data> =
  | { readonly kind: 'DATA'; readonly data: Data }
  /** The gateway refused the request itself: nothing was done. */
  | { readonly kind: 'REFUSED'; readonly code: string; readonly message: string }
  | { readonly kind: 'UNKNOWN' };

export interface Transport {
  readonly run: <Data, Variables extends AnyVariables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ) => Promise<Sent<Data>>;
}

/** Sends queries and mutations, and tells the three kinds of answers apart. */
export function createTransport(client: Client): Transport {
  return {
    run: async (document, variables) => {
      const request = createRequest(document, variables);
      const { data, error } =
        getOperationAST(document)?.operation === OperationTypeNode.MUTATION
          ? await client.executeMutation(request)
          : await client.executeQuery(request);
      if (data !== undefined && data !== null && error === undefined) return { kind: 'DATA', data };
      // None of GraphQL's own after a time-out, a lost connection, or an answer that isn't GraphQL.
      const refusal = error?.graphQLErrors[0];
      const code = refusal?.extensions['code'];
      // INTERNAL, and every code that this client doesn't know, says nothing of what was done before.
      if (refusal !== undefined && typeof code === 'string' && REFUSALS.has(code))
        return { kind: 'REFUSED', code, message: refusal.message };
      return { kind: 'UNKNOWN' };
    },
  };
}

const REFUSALS = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'BAD_REQUEST', 'RATE_LIMITED']);
