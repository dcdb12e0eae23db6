import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Gateway, startGateway } from '../../support/gateway.ts';

/*
 * DNS rebinding: a foreign page opens its own name, which now leads to this machine, and is then of the gateway's own origin.
 * GraphiQL would hand it a token for each role.
 */

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
});
afterAll(() => gateway.close());

/** Asks with a Host of one's own, which `fetch` doesn't allow. Resolves to the status. */
function ask(path: string, host: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, headers: { accept: 'text/html', host, ...headers } });
    sent.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy();
      resolve(statusCode);
    });
    sent.once('error', reject).end();
  });
}

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'sec-websocket-protocol': 'graphql-transport-ws',
};

describe('in development', () => {
  it.each(['evil.example', 'evil.example:4000', '127.0.0.1.evil.example', '10.0.0.9'])(
    'GraphiQL, GraphQL and sockets are closed to a page that calls the gateway %s',
    async (host) => {
      expect(await ask('/graphql', host)).toBe(421);
      expect(await ask('/webhooks/stripe', host)).toBe(421);
      expect(await ask('/graphql', host, UPGRADE)).toBe(421);
    },
  );

  it.each(['localhost', 'localhost:4000', '127.0.0.1:80', '[::1]:4000'])(
    'they are open by a name of this machine: %s',
    async (host) => {
      expect(await ask('/graphql', host)).toBe(200);
      expect(await ask('/graphql', host, UPGRADE)).toBe(101);
    },
  );

  it('health checks are answered by any name', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect(await ask(path, 'balancer.example')).toBe(200);
  });
});
