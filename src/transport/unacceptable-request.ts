import type { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { RequestContext } from '../schema/context.ts';
import { badRequest } from '../schema/errors.ts';
import { refusal, refuseOperations } from './responses.ts';

/*
 * What an HTTP request must be: its headers, its body, and for a subscription the answer that it accepts.
 */

/** Every page that calls us on purpose sends it. What a page can send without asking us first (CORS) never has it. */
export const CSRF_HEADER = 'x-hitotsu-csrf';

/**
 * The body was left unread, and its rest would be taken for the next request. So the connection ends with the answer, and says
 * so: otherwise a client might send a payment over it and never know its outcome.
 */
export const LEFT_UNREAD = { connection: 'close' };

/** The refusal of a request by its headers, before its body is read; undefined if it is acceptable. */
export function unacceptable(headers: Headers): Response | undefined {
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';');
  if (mediaType.trim().toLowerCase() !== 'application/json')
    return refusal(415, 'BAD_REQUEST', 'The body must be application/json.', LEFT_UNREAD);
  if ((headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    return refusal(415, 'BAD_REQUEST', 'The body must not be compressed.', {
      ...LEFT_UNREAD,
      'accept-encoding': 'identity',
    });
  if (!takesAnAnswer(headers.get('accept') ?? ANY))
    return refusal(406, 'BAD_REQUEST', 'The answer is application/json: accept must allow it.', LEFT_UNREAD);
  const fromBrowser = headers.has('origin') || headers.has('sec-fetch-site');
  if (fromBrowser && !headers.has(CSRF_HEADER))
    return refusal(403, 'FORBIDDEN', `Web pages must send the header ${CSRF_HEADER}: 1.`, LEFT_UNREAD);
  return undefined;
}

const ANY = '*/*';

/** What an answer can be, and the ranges that allow it. */
const ANSWERS: readonly string[] = [
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
  'application/*',
  'text/*',
  ANY,
  // Without a value it asks for nothing in particular.
  '',
];

/**
 * Whether the client accepts a form that our answer has. Yoga looks only when there is an answer: a payment would be made, and
 * its client told 406 and nothing else.
 */
function takesAnAnswer(accept: string): boolean {
  return accept
    .replace(/\s/g, '')
    .toLowerCase()
    .split(',')
    .some((range) => {
      const [mediaType = '', ...parameters] = range.split(';');
      const charset = parameters.find((parameter) => parameter.startsWith('charset='));
      return ANSWERS.includes(mediaType) && (charset === undefined || charset === 'charset=utf-8');
    });
}

/**
 * Reads bodies as JSON in UTF-8. `unacceptable` has checked that the body says it is JSON, in whatever way HTTP lets it be
 * written. Yoga's own reader knows fewer ways, and replaces bytes that are not UTF-8.
 */
export function readBodies(): Plugin<RequestContext, RequestContext> {
  return {
    onRequestParse: ({ setRequestParser }) => {
      setRequestParser(async (request) => {
        const body = parseBody(await wholeBody(request));
        if (typeof body !== 'object' || body === null) throw badBody('The body must be a JSON object.');
        if (Object.keys(body).some((key) => !MEMBERS.includes(key)) && !Array.isArray(body))
          throw badBody(`The body may have no other members than ${MEMBERS.join(', ')}.`);
        // Yoga looks at what is in it: an array of requests is refused, and each member has to be of its type.
        return body as GraphQLParams;
      });
    },
  };
}

/** GraphQL over HTTP knows these. Yoga's own error would repeat any other, which may be a secret that slipped. */
const MEMBERS: readonly string[] = ['query', 'operationName', 'variables', 'extensions'];

async function wholeBody(request: Request): Promise<ArrayBuffer> {
  try {
    return await request.arrayBuffer();
  } catch {
    // The client may be gone in the middle of it, as phones in tunnels are.
    throw badBody('The body did not come to its end.');
  }
}

function parseBody(body: ArrayBuffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw badBody('The body must be JSON in UTF-8.');
  }
}

function badBody(message: string): GraphQLError {
  return badRequest(message, { status: 400 });
}

const EVENT_STREAM = 'text/event-stream';

/**
 * A subscription over HTTP answers with a stream that doesn't end. A client that doesn't accept a stream would wait for the end
 * of its answer for ever, so it is refused. On a socket there is no HTTP request, and nothing to check.
 */
export function requireEventStream(): Plugin<RequestContext, RequestContext> {
  const { onSubscribe } = refuseOperations(({ contextValue: { request } }) => {
    if (request === undefined || request.headers.get('accept')?.includes(EVENT_STREAM) === true)
      return undefined;
    return badRequest(`A subscription over HTTP needs accept: ${EVENT_STREAM}.`, { status: 406 });
  });
  return { onSubscribe };
}
