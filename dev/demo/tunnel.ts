import { type Server, type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { linkSockets } from '../link-sockets.ts';

/** A way to a server that can be cut, as a phone's is in a railway tunnel. */
export interface Tunnel {
  /** The server's URL, as seen through it. */
  readonly url: string;
  /** Cuts every connection, without a goodbye, and lets no new one through. */
  readonly enter: () => void;
  readonly leave: () => void;
  /** Forwards what clients send and loses every answer, until it's left again. */
  readonly loseAnswers: () => void;
  readonly close: () => Promise<void>;
}

/** Opens a port on 127.0.0.1 that leads to an http URL. */
export async function openTunnel(targetUrl: string): Promise<Tunnel> {
  const target = new URL(targetUrl);
  const open = new Set<Socket>();
  let state: 'open' | 'dark' | 'answers lost' = 'open';
  const server: Server = createServer((client) => {
    if (state === 'dark') {
      client.destroy();
      return;
    }
    const upstream = connect(Number.parseInt(target.port, 10), target.hostname);
    linkSockets(client, upstream, open);
    client.pipe(upstream);
    upstream.on('data', (data) => {
      if (state === 'answers lost') client.destroy();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  // The address of a server that listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    enter: () => {
      state = 'dark';
      cut();
    },
    loseAnswers: () => {
      state = 'answers lost';
    },
    leave: () => {
      state = 'open';
    },
    close: () =>
      new Promise((resolve) => {
        cut();
        server.close(() => {
          resolve();
        });
      }),
  };
}
