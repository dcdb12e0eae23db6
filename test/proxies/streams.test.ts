import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type ChildServer, answersHttp, startChildServer } from '../../dev/engine/child-server.ts';
import { SELLER, type Gateway, startGateway } from '../support/gateway.ts';
import { openOrder } from '../integration/realtime/support.ts';

/** Events through real proxies with their defaults: nothing may be held back until the stream ends. */

const NGINX = (port: number, upstream: string, folder: string): string => `
daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  gzip on; gzip_types text/event-stream; gzip_proxied any;
  server { listen 127.0.0.1:${String(port)}; location / { proxy_pass http://${upstream}; } }
}`;

const HAPROXY = (port: number, upstream: string): string => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend all
  bind 127.0.0.1:${String(port)}
  default_backend gateway
backend gateway
  option httpchk GET /readyz
  server one ${upstream} check inter 200ms
`;

const PROXIES = [
  { name: 'nginx', config: NGINX, args: (file: string) => ['-c', file] },
  { name: 'haproxy', config: HAPROXY, args: (file: string) => ['-db', '-q', '-f', file] },
];

let gateway: Gateway;
let folder: string;
let proxy: ChildServer | undefined;
beforeEach(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  folder = await mkdtemp(join(tmpdir(), 'hitotsu-proxy-'));
});
afterEach(async () => {
  await proxy?.stop();
  await gateway.close();
  await rm(folder, { recursive: true });
});

describe.each(PROXIES)('through $name', ({ name, config, args }) => {
  beforeEach(async () => {
    const file = join(folder, 'proxy.conf');
    proxy = await startChildServer({
      name,
      // The shell writes nothing: it waits for the configuration, which needs the port.
      command: process.execPath,
      args: (port) => [
        '-e',
        START,
        file,
        config(port, new URL(gateway.url).host, folder),
        name,
        ...args(file),
      ],
      answers: answersHttp,
      startTimeoutMs: 15_000,
    });
  });

  it('a subscription’s first event comes while the stream is open', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const response = await fetch(`http://127.0.0.1:${String(proxy?.port)}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${await gateway.token(SELLER)}`,
      },
      body: JSON.stringify({
        query: 'subscription ($orderId: ID!) { orderTransitions(orderId: $orderId, afterVersion: 0) { to } }',
        variables: { orderId },
      }),
      signal: AbortSignal.timeout(10_000),
    });
    expect(response.status).toBe(200);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('CREATED')) break;
    }
    expect(text).toContain('"to":"CREATED"');
  });

  it('the gateway is found ready', async () => {
    const response = await fetch(`http://127.0.0.1:${String(proxy?.port)}/readyz`);
    expect([response.status, await response.json()]).toMatchObject([200, { status: 'ok' }]);
  });
});

/** Writes the configuration, then becomes the proxy. */
const START = `
const [file, text, program, ...args] = process.argv.slice(1);
require('node:fs').writeFileSync(file, text);
const child = require('node:child_process').spawn(program, args, { stdio: 'inherit' });
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code) => process.exit(code ?? 0));
`;
