import { once } from 'node:events';
import { type Socket, createConnection } from 'node:net';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { ALICE, type Gateway, startGateway } from '../../support/gateway.ts';

/** What a load balancer sees of a gateway: its health checks, kept connections, and how it goes away. */

let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({
    endpoint: inject('engineEndpoint'),
    environment: { DRAIN_NOTICE_S: '1', KEEP_ALIVE_S: '90' },
  });
});
afterEach(async () => {
  await gateway.close();
});

/** A kept connection that speaks HTTP by hand: sends a request, gives the head of its answer. */
async function connect(): Promise<{
  readonly socket: Socket;
  readonly head: (text: string) => Promise<string>;
}> {
  const { hostname, port } = new URL(gateway.url);
  const socket = createConnection(Number.parseInt(port, 10), hostname).setEncoding('utf8');
  await once(socket, 'connect');
  return {
    socket,
    head: async (text) => {
      socket.write(text);
      let answer = '';
      // The body may come later, or in the same piece.
      while (!answer.includes('\r\n\r\n')) answer += String((await once(socket, 'data'))[0]);
      return answer.slice(0, answer.indexOf('\r\n\r\n')).toLowerCase();
    },
  };
}

const READY = 'GET /readyz HTTP/1.1\r\nHost: gateway\r\n\r\n';

it.each(['/readyz', '/healthz', '/metrics'])(
  'a check of %s by HTTP/1.0 without a Host finds it well',
  async (path) => {
    const { socket, head } = await connect();
    expect(await head(`GET ${path} HTTP/1.0\r\n\r\n`)).toMatch(/^http\/1\.1 200 ok/);
    socket.destroy();
  },
);

it('an idle connection is kept for longer than a balancer keeps it, and says for how long', async () => {
  const { socket, head } = await connect();
  expect(await head(READY)).toContain('keep-alive: timeout=90');
  socket.destroy();
});

it('a gateway that stops says so first, goes on serving, and asks for no more on kept connections', async () => {
  const kept = await connect();
  expect(await kept.head(READY)).toMatch(/^http\/1\.1 200 ok/);
  const closed = gateway.close();
  const fresh = await connect();
  const answer = await fresh.head(READY);
  expect(answer).toMatch(/^http\/1\.1 503 /);
  expect(answer).toContain('connection: close');
  const served = await gateway.post(ALICE, JSON.stringify({ query: '{ viewer { subject } }' }));
  expect([served.status, await served.text()]).toEqual([200, '{"data":{"viewer":{"subject":"alice"}}}']);
  expect(served.headers.get('connection')).toBe('close');
  const ended = once(kept.socket, 'close');
  expect(await kept.head(READY)).toContain('connection: close');
  await ended;
  await closed;
  await expect(connect()).rejects.toThrow('ECONNREFUSED');
});
