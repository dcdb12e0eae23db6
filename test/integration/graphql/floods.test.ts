import { once } from 'node:events';
import { type Socket, createConnection } from 'node:net';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { ALICE, type Gateway, startGateway } from '../../support/gateway.ts';
import { signedIn } from '../realtime/support.ts';

/** What one sender can take from all others: memory, connections, reads of the table. */

let gateway: Gateway;
let reads = 0;
let sockets: Socket[] = [];
beforeEach(async () => {
  gateway = await startGateway({
    endpoint: inject('engineEndpoint'),
    environment: { MAX_CONNECTIONS: '700', MAX_REQUESTS_IN_FLIGHT: '2', MAX_WEBHOOKS_IN_FLIGHT: '2' },
  });
  reads = 0;
  const { store } = gateway.server.app.ledger;
  const get = store.get.bind(store);
  Object.assign(store, {
    get: (...keys: Parameters<typeof get>) => {
      reads += 1;
      return get(...keys);
    },
  });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await gateway.close();
});

/** A post that announces a body and sends a part of it, or nothing. */
async function begin(
  path: string,
  headers: readonly string[],
  part: Buffer,
  announced: number,
): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = createConnection(Number.parseInt(port, 10), hostname).setEncoding('utf8');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = [
    'POST ' + path + ' HTTP/1.1',
    'Host: localhost',
    ...headers,
    `Content-Length: ${String(announced)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(part);
  return socket;
}

async function headOf(socket: Socket): Promise<string> {
  let answer = '';
  while (!answer.includes('\r\n\r\n')) answer += String((await once(socket, 'data'))[0]);
  return answer.slice(0, answer.indexOf('\r\n\r\n')).toLowerCase();
}

const MIB = 1_048_576;

it('600 posts to the webhook without a signature are refused unread, and pin no memory', async () => {
  const part = Buffer.alloc(64 * 1024, 0x20);
  const before = process.memoryUsage().arrayBuffers;
  const open = await Promise.all(
    Array.from({ length: 600 }, () => begin('/webhooks/stripe', [], part, MIB - 1)),
  );
  const heads = await Promise.all(open.map(headOf));
  expect(
    heads.filter((head) => head.startsWith('http/1.1 400') && head.includes('connection: close')),
  ).toHaveLength(600);
  expect((process.memoryUsage().arrayBuffers - before) / MIB).toBeLessThan(64);
});

it.each([
  ['webhook', '/webhooks/stripe', ['Stripe-Signature: t=1,v1=00']],
  ['graphql', '/graphql', ['Content-Type: application/json']],
])('no more than so many bodies of %s are read at a time', async (route, path, headers) => {
  const authorized = [...headers, `Authorization: Bearer ${await gateway.token(ALICE)}`];
  const begun = await Promise.all([1, 2, 3].map(() => begin(path, authorized, Buffer.from('{'), 100)));
  const head = await Promise.race(begun.map(headOf));
  expect(head).toMatch(/^http\/1\.1 503/);
  expect(head).toContain('retry-after: 1');
  expect(head).toContain('connection: close');
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain(`hitotsu_request_shed_total{route="${route}"} 1`);
});

it('a body that was given up makes room for the next', async () => {
  const headers = ['Content-Type: application/json', `Authorization: Bearer ${await gateway.token(ALICE)}`];
  const held = await Promise.all([1, 2].map(() => begin('/graphql', headers, Buffer.from('{'), 100)));
  for (const socket of held) socket.destroy();
  const query = JSON.stringify({ query: '{ viewer { subject } }' });
  await expect.poll(async () => (await gateway.post(ALICE, query)).status).toBe(200);
});

it('a socket that sends more than 500 messages in ten seconds is told to come again later', async () => {
  const bare = await signedIn(gateway, ALICE);
  for (let sent = 1; sent < 500; sent += 1) bare.send({ type: 'ping' });
  await expect.poll(() => bare.messages.filter(({ type }) => type === 'pong').length).toBe(499);
  gateway.clock.advance(10_000);
  for (let sent = 0; sent < 502; sent += 1) bare.send({ type: 'ping' });
  expect(await bare.closed).toEqual({ code: 1013, reason: 'Too many messages' });
  expect(bare.messages.filter(({ type }) => type === 'pong').length).toBeLessThanOrEqual(999);
});

it('/readyz reads the table once a second, however often it is asked', async () => {
  const ask = async (): Promise<void> => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${gateway.url}/readyz`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  };
  await ask();
  await ask();
  expect(reads).toBe(1);
  gateway.clock.advance(1_000);
  await ask();
  expect(reads).toBe(2);
});

it('of more connections than are allowed the last is dropped, and counted', async () => {
  const narrow = await startGateway({
    endpoint: inject('engineEndpoint'),
    environment: { MAX_CONNECTIONS: '2' },
  });
  try {
    const { hostname, port } = new URL(narrow.url);
    const connectTo = async (): Promise<Socket> => {
      const socket = createConnection(Number.parseInt(port, 10), hostname);
      sockets.push(socket);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    };
    const [first] = [await connectTo(), await connectTo()];
    const dropped = await connectTo();
    if (!dropped.closed) await once(dropped, 'close');
    first.destroy();
    const { metrics } = narrow.server.app;
    await expect.poll(async () => (await metrics.render()).body).toContain('hitotsu_connection_shed_total 1');
    await expect.poll(async () => (await fetch(`${narrow.url}/healthz`)).status).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
    await narrow.close();
  }
});
