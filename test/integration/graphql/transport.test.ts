import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ViewerDocument } from '../../support/generated/documents.ts';
import { ALICE, type Gateway, codesOf, dataOf, readAnswer, startGateway } from '../../support/gateway.ts';
import { fund, openOrder } from './money.ts';

let gateway: Gateway;
let charge: string;
beforeAll(async () => {
  gateway = await startGateway({
    endpoint: inject('engineEndpoint'),
    environment: { CORS_ORIGINS: 'https://shop.example' },
  });
  await fund(gateway, ALICE, '50.00');
  const id = await openOrder(gateway, ALICE, '20.00');
  charge = `mutation { charge(idempotencyKey: "csrf", input: { orderId: "${id}" }) { __typename } }`;
});
afterAll(() => gateway.close());

async function balance(): Promise<string | undefined> {
  const { viewer } = dataOf(await gateway.run(ALICE, ViewerDocument));
  return viewer.wallet?.balances.find(({ asset }) => asset === 'ECOPAY')?.amount;
}

describe('a request that a foreign page could send by itself', () => {
  it.each([
    ['text/plain', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['a multipart form', 'multipart/form-data; boundary=x'],
    ['GraphQL as text', 'application/graphql'],
    ['nothing said of its type', ''],
    ['JSON in disguise', 'text/plain; application/json'],
  ])('is refused with 415: %s', async (_, contentType) => {
    const body = contentType.includes('form-urlencoded')
      ? new URLSearchParams({ query: charge }).toString()
      : JSON.stringify({ query: charge });
    const response = await gateway.post(ALICE, body, { 'content-type': contentType });
    expect(response.status).toBe(415);
    expect(codesOf(await readAnswer(response))).toEqual(['BAD_REQUEST']);
    expect(await balance()).toBe('50.00');
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'])('is refused with 405: %s', async (method) => {
    const url = `${gateway.graphqlUrl}?query=${encodeURIComponent(charge)}`;
    const headers = { authorization: `Bearer ${await gateway.token(ALICE)}` };
    const response = await fetch(url, { method, headers });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await balance()).toBe('50.00');
  });

  it('is refused with 405: a subscription by GET', async () => {
    const query = 'subscription { orderTransitions(orderId: "x") { version } }';
    const response = await fetch(`${gateway.graphqlUrl}?query=${encodeURIComponent(query)}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${await gateway.token(ALICE)}` },
    });
    expect(response.status).toBe(405);
  });

  it.each([
    ['Origin', { origin: 'https://evil.example' }],
    ['Origin, though allowed', { origin: 'https://shop.example' }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
  ])("is refused with 403 when it's from a browser and lacks the header: %s", async (_, headers) => {
    const response = await gateway.post(ALICE, JSON.stringify({ query: charge }), headers);
    expect(response.status).toBe(403);
    expect(await balance()).toBe('50.00');
  });
});

describe('a page of an allowed origin', () => {
  it('is answered, and told so by CORS', async () => {
    const response = await gateway.post(ALICE, JSON.stringify({ query: '{ viewer { subject } }' }), {
      origin: 'https://shop.example',
      'x-hitotsu-csrf': '1',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
  });

  it('may ask beforehand; others are told nothing', async () => {
    const ask = (origin: string): Promise<Response> =>
      fetch(gateway.graphqlUrl, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const allowed = await ask('https://shop.example');
    expect(allowed.headers.get('access-control-allow-headers')).toContain('x-hitotsu-csrf');
    expect((await ask('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a body', () => {
  it('that is an array of operations is refused whole', async () => {
    const response = await gateway.post(ALICE, JSON.stringify(Array(10).fill({ query: charge })));
    const answer = await readAnswer(response);
    expect([answer.status, codesOf(answer)]).toEqual([400, ['BAD_REQUEST']]);
    expect(await balance()).toBe('50.00');
  });

  it('that is too large is refused with 413, chunked too', async () => {
    const large = JSON.stringify({ query: '{ viewer { subject } }', variables: { x: 'x'.repeat(200_000) } });
    expect((await gateway.post(ALICE, large)).status).toBe(413);
    const chunked = await fetch(gateway.graphqlUrl, {
      method: 'POST',
      body: new Blob([large]).stream(),
      // A body that is a stream needs it; the DOM's types don't know.
      ...{ duplex: 'half' },
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await gateway.token(ALICE)}`,
      },
    });
    expect(chunked.status).toBe(413);
  });

  it.each([['application/JSON'], ['application/json ; charset=utf-8'], ['Application/Json;charset="utf-8"']])(
    'is JSON however its type is written: %s',
    async (contentType) => {
      const body = JSON.stringify({ query: '{ viewer { subject } }' });
      const answer = await readAnswer(await gateway.post(ALICE, body, { 'content-type': contentType }));
      expect([answer.status, answer.data]).toEqual([200, { viewer: { subject: 'alice' } }]);
    },
  );

  it('that is compressed is refused with 415, and told so', async () => {
    const response = await fetch(gateway.graphqlUrl, {
      method: 'POST',
      body: gzipSync(JSON.stringify({ query: charge })),
      headers: {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        authorization: `Bearer ${await gateway.token(ALICE)}`,
      },
    });
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect((await readAnswer(response)).errors[0]?.message).toBe('The body must not be compressed.');
  });

  it('that is not UTF-8 is BAD_REQUEST: no letter of a name is replaced', async () => {
    const query = 'mutation { updateProfile(input: { displayName: "é" }) { __typename } }';
    const response = await fetch(gateway.graphqlUrl, {
      method: 'POST',
      body: Buffer.from(JSON.stringify({ query }), 'latin1'),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await gateway.token(ALICE)}` },
    });
    const answer = await readAnswer(response);
    expect([answer.status, answer.errors[0]?.message]).toEqual([400, 'The body must be JSON in UTF-8.']);
  });

  it.each([
    ['no JSON', '{ "query": '],
    ['no object', '"query"'],
    ['without a query', '{}'],
    ['whose query is no text', '{ "query": 1 }'],
    ['whose variables are no object', '{ "query": "{ viewer { subject } }", "variables": [] }'],
  ])('that is %s is BAD_REQUEST', async (_, body) => {
    const answer = await readAnswer(await gateway.post(ALICE, body));
    expect([answer.status, codesOf(answer)]).toEqual([400, ['BAD_REQUEST']]);
  });
});

it('a subscription by a client that asked for no stream is refused with 406, at once', async () => {
  const query = 'subscription { orderTransitions(orderId: "x") { version } }';
  const answer = await readAnswer(await gateway.post(ALICE, JSON.stringify({ query })));
  expect([answer.status, codesOf(answer)]).toEqual([406, ['BAD_REQUEST']]);
  expect(answer.errors[0]?.message).toBe('A subscription over HTTP needs accept: text/event-stream.');
});

it.each([['text/xml'], ['text/html'], ['application/json; charset=utf-16']])(
  'a client that takes no answer of ours is told before anything happens: %s',
  async (accept) => {
    const before = await balance();
    const response = await gateway.post(ALICE, JSON.stringify({ query: charge }), { accept });
    const answer = await readAnswer(response);
    expect([answer.status, codesOf(answer)]).toEqual([406, ['BAD_REQUEST']]);
    expect(answer.errors[0]?.message).toBe('The answer is application/json: accept must allow it.');
    expect(await balance()).toBe(before);
  },
);

it.each([
  [''],
  ['*/*'],
  ['application/*'],
  ['text/html, APPLICATION/json; q=0.5'],
  ['application/graphql-response+json'],
])('a client that takes one of our answers has it: %s', async (accept) => {
  const query = '{ viewer { subject } }';
  const answer = await readAnswer(await gateway.post(ALICE, JSON.stringify({ query }), { accept }));
  expect([answer.status, answer.data]).toEqual([200, { viewer: { subject: 'alice' } }]);
});

describe('a refusal before GraphQL', () => {
  const GRAPHQL_RESPONSE = 'application/graphql-response+json';
  const query = JSON.stringify({ query: '{ viewer { subject } }' });
  const accepts = [`${GRAPHQL_RESPONSE}, application/json;q=0.9`, 'application/json'];

  it.each<[number, string, Record<string, string>]>([
    [401, 'POST', { authorization: 'Bearer nonsense' }],
    [403, 'POST', { origin: 'https://evil.example' }],
    [405, 'PUT', {}],
    [415, 'POST', { 'content-type': 'text/plain' }],
  ])('%i has the media type that was asked for', async (status, method, headers) => {
    for (const accept of accepts) {
      const response = await fetch(gateway.graphqlUrl, {
        method,
        body: query,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await gateway.token(ALICE)}`,
          accept,
          ...headers,
        },
      });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')?.split(';')[0]).toBe(accept.split(',')[0]);
      expect(codesOf(await readAnswer(response))).toHaveLength(1);
    }
  });

  it('of a variable that is no good is 400 with its place, in the media type of GraphQL over HTTP', async () => {
    const body = JSON.stringify({
      query: 'query ($id: ID!) { order(id: $id) { id } }',
      variables: { id: { no: 'id' } },
    });
    const response = await gateway.post(ALICE, body, { accept: GRAPHQL_RESPONSE });
    const answer = await readAnswer(response);
    expect([answer.status, codesOf(answer)]).toEqual([400, ['BAD_REQUEST']]);
    expect(answer.errors).toMatchObject([{ locations: [{ line: 1, column: 8 }] }]);
  });
});

describe('a page of this machine', () => {
  it('may call a gateway in development, from any port, and a foreign page may not', async () => {
    const ask = (origin: string): Promise<Response> =>
      fetch(gateway.graphqlUrl, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:8080'])
      expect((await ask(origin)).headers.get('access-control-allow-origin')).toBe(origin);
    for (const origin of [
      'http://localhost.evil.example',
      'https://localhost:5173',
      'http://192.168.1.5',
      'null',
    ])
      expect((await ask(origin)).headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('every answer', () => {
  it("carries the sender's request id, or one of ours", async () => {
    const body = JSON.stringify({ query: '{ viewer { subject } }' });
    const named = await gateway.post(ALICE, body, { 'x-request-id': 'shop-request-0001' });
    expect(named.headers.get('x-request-id')).toBe('shop-request-0001');
    const unnamed = await gateway.post(ALICE, body, { 'x-request-id': 'no id <script>' });
    expect(unnamed.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
  });

  it('carries security headers', async () => {
    const { headers } = await gateway.post(ALICE, JSON.stringify({ query: '{ viewer { subject } }' }));
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect(headers.get('strict-transport-security')).toContain('max-age=');
  });

  it('keeps the order in which fields were asked for', async () => {
    const query = '{ merchants { name } viewer { wallet { balances { amount } } subject } __typename }';
    const text = await (await gateway.post(ALICE, JSON.stringify({ query }))).text();
    expect(Object.keys((JSON.parse(text) as { data: object }).data)).toEqual([
      'merchants',
      'viewer',
      '__typename',
    ]);
  });
});

describe('operators', () => {
  it('see that it lives, that it is ready, and what it counts', async () => {
    expect(await (await fetch(`${gateway.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${gateway.url}/readyz`)).json()).toEqual({
      status: 'ok',
      table: 'readable',
      bus: 'ready',
    });
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain(
      'hitotsu_operation_outcome_total{operation="adjustBalance",outcome="AdjustBalanceSuccess"} 1',
    );
    expect(metrics).toContain('hitotsu_request_duration_seconds_count{operation="adjustBalance"} 1');
  });
});
