import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';

/** How a request ended. Only DATA says what became of it; UNKNOWN may have happened or not. */
export type Sent<Data> =
  | { readonly kind: 'DATA'; readonly data: Data }
  /** The gateway refused the request itself: nothing was done. */
  | { readonly kind: 'REFUSED'; readonly code: string; readonly message: string }
  | { readonly kind: 'UNKNOWN' };

export interface Transport {
  readonly run: <Data, Variables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ) => Promise<Sent<Data>>;
}

interface Body<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** Sends documents over HTTP. `token` is asked each time, so that a refreshed one is used at once. */
export function createTransport(url: string, token: () => Promise<string>): Transport {
  return {
    run: async <Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables) => {
      let body: Body<Data>;
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${await token()}` },
          body: JSON.stringify({ query: print(document), variables }),
          signal: AbortSignal.timeout(10_000),
        });
        // What GraphQL over HTTP answers with; whatever else came is caught below.
        body = (await response.json()) as Body<Data>;
      } catch {
        return { kind: 'UNKNOWN' };
      }
      const { data, errors: [error] = [] } = body;
      if (data !== undefined && data !== null && error === undefined) return { kind: 'DATA', data };
      const code = error?.extensions?.code;
      // INTERNAL, and every code that this client doesn't know, says nothing of what was done before.
      if (code !== undefined && REFUSALS.has(code))
        return { kind: 'REFUSED', code, message: error?.message ?? '' };
      return { kind: 'UNKNOWN' };
    },
  };
}

const REFUSALS = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'BAD_REQUEST', 'RATE_LIMITED']);
