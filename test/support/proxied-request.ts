import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type Agent, type IncomingMessage, type ServerResponse, request } from 'node:http';
import { seededFractions } from './seeded.ts';

/** A request on its way through the proxy. */
export interface Passing {
  readonly operation: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Rewriting {
  /**
   * What becomes of client request tokens: kept; FRESH, as if the engine had forgotten each at once (ten minutes have
   * passed); STRIPPED, as with an engine that knows none.
   */
  readonly tokens?: 'KEPT' | 'FRESH' | 'STRIPPED';
  /** Sends the keys of every JSON object in another order each time. */
  readonly shuffleKeys?: boolean;
}

export async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Passing> {
  const target = headerText(incoming, 'x-amz-target');
  const headers = Object.fromEntries(
    ['content-type', 'x-amz-target', 'x-amz-date', 'authorization']
      .map((name) => [name, headerText(incoming, name)] as const)
      .filter(([, value]) => value !== ''),
  );
  const body = (await readAll(incoming)).toString('utf8');
  return { operation: target.slice(target.indexOf('.') + 1), headers, body, incoming, outgoing };
}

function headerText(incoming: IncomingMessage, name: string): string {
  const value = incoming.headers[name];
  return typeof value === 'string' ? value : '';
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // A stream of bytes without an encoding yields Buffers.
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function send(
  target: string,
  agent: Agent,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Answer> {
  const bytes = Buffer.from(body);
  const sent = request(target, {
    method: 'POST',
    agent,
    headers: { ...headers, 'content-length': String(bytes.length) },
  });
  sent.end(bytes);
  // A request's first event is its response or an error, and `once` rejects with the error.
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const answer = await readAll(response);
  const kept = ['content-type', 'x-amzn-requestid', 'x-amz-crc32', 'x-amzn-errortype'];
  return {
    status: response.statusCode ?? 502,
    body: answer,
    headers: {
      ...Object.fromEntries(
        kept.map((name) => [name, headerText(response, name)] as const).filter(([, value]) => value !== ''),
      ),
      'content-length': String(answer.length),
    },
  };
}

/** How a body changes on its way to the engine. A test engine checks no signature, so it may. */
export function rewriter({ tokens, shuffleKeys }: Rewriting): (body: string) => string {
  if ((tokens ?? 'KEPT') === 'KEPT' && shuffleKeys !== true) return (body) => body;
  const fraction = seededFractions(1);
  return (body) => {
    const parsed: unknown = JSON.parse(body);
    const fields = isRecord(parsed) ? { ...parsed } : {};
    if ('ClientRequestToken' in fields && tokens === 'FRESH') fields['ClientRequestToken'] = randomUUID();
    if (tokens === 'STRIPPED') delete fields['ClientRequestToken'];
    return JSON.stringify(shuffleKeys === true ? shuffled(fields, fraction) : fields);
  };
}

function shuffled(value: unknown, fraction: () => number): unknown {
  if (Array.isArray(value)) return value.map((element) => shuffled(element, fraction));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, field]) => [fraction(), name, shuffled(field, fraction)] as const)
      .sort(([one], [other]) => one - other)
      .map(([, name, field]) => [name, field]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function itemCount(body: string): number {
  const parsed: unknown = JSON.parse(body);
  const items = isRecord(parsed) ? parsed['TransactItems'] : [];
  return Array.isArray(items) ? items.length : 0;
}
