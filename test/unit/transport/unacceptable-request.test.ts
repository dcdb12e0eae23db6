import { GraphQLError } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';
import { readBodies } from '../../../src/transport/unacceptable-request.ts';

type Parser = (request: Request) => Promise<GraphQLParams> | GraphQLParams;

/** The parser that the plugin gives Yoga. */
async function parser(): Promise<Parser> {
  let given: Parser | undefined;
  // Of what Yoga hands over the plugin takes the setter alone.
  await readBodies().onRequestParse?.({ setRequestParser: (parse: Parser) => (given = parse) } as never);
  if (given === undefined) throw new Error('no parser');
  return given;
}

function post(body: ReadableStream | string): Request {
  // A body that is a stream needs it; the DOM's types don't know.
  return new Request('http://127.0.0.1/graphql', { method: 'POST', body, ...{ duplex: 'half' } });
}

describe('a body', () => {
  it('is read as JSON', async () => {
    expect(await (await parser())(post('{"query":"{ é }"}'))).toEqual({ query: '{ é }' });
  });

  it('whose client goes in the middle of it is BAD_REQUEST, no error of ours', async () => {
    const half = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{"query":'));
        controller.error(new Error('read ECONNRESET'));
      },
    });
    const read = (await parser())(post(half));
    const refused = await Promise.resolve(read).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(GraphQLError);
    expect(refused).toMatchObject({
      message: 'The body did not come to its end.',
      extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
    });
  });
});
