import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RequestContext } from '../schema/context.ts';

const EVENT_STREAM = 'text/event-stream';

/**
 * A subscription over HTTP answers with a stream that doesn't end. A client that didn't ask for one would wait for the end of
 * an answer that never comes: it is told instead. Sockets have no such request.
 */
export function requireEventStream(): Plugin<RequestContext, RequestContext> {
  return {
    onSubscribe: ({ args: { contextValue }, setResultAndStopExecution }) => {
      const accept = acceptOf(contextValue);
      if (accept === undefined || accept.includes(EVENT_STREAM)) return;
      setResultAndStopExecution({
        errors: [
          new GraphQLError(`A subscription over HTTP needs accept: ${EVENT_STREAM}.`, {
            extensions: { code: 'BAD_REQUEST', http: { status: 406 } },
          }),
        ],
      });
    },
  };
}

/** The accept header of the HTTP request; undefined on a socket. */
function acceptOf(context: { readonly request?: Request | undefined }): string | undefined {
  return context.request === undefined ? undefined : (context.request.headers.get('accept') ?? '');
}
