import { type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { linkSockets } from '../link-sockets.ts';

/** A way to a server on which most connections are cut: before the request, before the answer, or in the middle of it. */
export interface CuttingProxy {
  readonly url: string;
  /** How many connections were cut so far. */
  readonly cuts: () => number;
  readonly close: () => Promise<void>;
}

const CUTS = ['WHOLE', 'WHOLE', 'BEFORE_REQUEST', 'BEFORE_ANSWER', 'AMID_ANSWER'] as const;

/** Opens a port on 127.0.0.1 that leads to an http URL; `fraction` decides what becomes of each connection. */
export async function openCuttingProxy(targetUrl: string, fraction: () => number): Promise<CuttingProxy> {
  const target = new URL(targetUrl);
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const end = CUTS[Math.floor(fraction() * CUTS.length)] ?? 'WHOLE';
    const upstream = connect(Number.parseInt(target.port, 10), target.hostname);
    linkSockets(client, upstream, open);
    const cut = (): void => {
      cuts += 1;
      client.resetAndDestroy();
    };
    client.on('data', (data) => {
      if (end === 'BEFORE_REQUEST') cut();
      else upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (end === 'BEFORE_ANSWER') cut();
      else if (end === 'AMID_ANSWER') client.write(data.subarray(0, Math.floor(data.length / 2)), cut);
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The address of a server that listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    cuts: () => cuts,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}
