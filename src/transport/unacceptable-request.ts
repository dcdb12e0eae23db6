import { refusal } from './responses.ts';

/** Sent by every page that means to call us. What a page can send without asking us first (CORS) never has it. */
export const CSRF_HEADER = 'x-hitotsu-csrf';

/**
 * The body was left unread, and its rest would be taken for the next request. So the connection ends with the answer, and says
 * so: a client that sent a payment over it would not know what became of that.
 */
export const LEFT_UNREAD = { connection: 'close' };

/** Why a request isn't one of ours, before its body is read; undefined if it is. */
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
 * Whether a client would hear its answer. Yoga finds out only when there is one: a payment would be made, and its client told
 * 406 and nothing else.
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
