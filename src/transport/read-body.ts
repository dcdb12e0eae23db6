import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { RequestContext } from '../schema/context.ts';

/**
 * Reads bodies as JSON in UTF-8. That a body says it is JSON has been asked already (`unacceptable-request.ts`), in whatever
 * way HTTP lets it be written; Yoga's own reader knows fewer, and puts other letters where the bytes are no UTF-8.
 */
export function readBodies(): Plugin<RequestContext, RequestContext> {
  return {
    onRequestParse: ({ setRequestParser }) => {
      setRequestParser(async (request) => parse(await wholeBody(request)));
    },
  };
}

/** A client may go in the middle of it, as phones in tunnels do. */
async function wholeBody(request: Request): Promise<ArrayBuffer> {
  try {
    return await request.arrayBuffer();
  } catch {
    throw badBody('The body did not come to its end.');
  }
}

function parse(body: ArrayBuffer): GraphQLParams {
  const read = readJson(body);
  if (typeof read !== 'object' || read === null) throw badBody('The body must be a JSON object.');
  // Yoga looks at what is in it: an array of requests is refused, and each member has to be of its type.
  return read as GraphQLParams;
}

function readJson(body: ArrayBuffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw badBody('The body must be JSON in UTF-8.');
  }
}

function badBody(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
}
