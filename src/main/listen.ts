import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { type App, type AppOverrides, createApp } from './app.ts';
import type { Config } from '../config/config.ts';
import { DEFAULT_HOSTNAME } from './health-server.ts';
import { startBackground } from '../fulfilment/worker.ts';

/** A gateway that listens. */
export interface RunningServer {
  readonly app: App;
  /** Where it is, with the port that it got. */
  readonly url: string;
  /** Finishes what runs, tells sockets to reconnect elsewhere, and frees all resources. Calling it again is harmless. */
  readonly close: () => Promise<void>;
}

/** How long requests in flight may take when the server stops; then their connections are cut. */
const DRAIN_MS = 10_000;
/** How long a client may take to send its headers, and the whole of its request: longer, and it is cut off. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 60_000;

/**
 * Builds the app, listens on the configured host and port, and starts the worker where the configuration says so. Rejects with
 * Node's own error, such as EADDRINUSE, if it can't listen.
 */
export async function startServer(config: Config, overrides: AppOverrides = {}): Promise<RunningServer> {
  const app = createApp(config, overrides);
  // Without HTTP/2 options the adaptor makes a plain HTTP server.
  const server = createAdaptorServer({
    fetch: app.fetch,
    hostname: DEFAULT_HOSTNAME,
    serverOptions: { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS },
  }) as Server;
  server.keepAliveTimeout = config.keepAliveMs;
  server.maxConnections = config.maxConnections;
  server.on('drop', () => {
    app.metrics.count('ConnectionShed');
  });
  const sockets = app.attachSockets(server);
  const cutStreams = trackStreams(server);
  try {
    await once(server.listen(config.port, config.host), 'listening');
  } catch (error) {
    await app.close();
    throw error;
  }
  const background = config.worker
    ? startBackground(app.ledger, app.registry, { ...app, sweeper: config.sweeper })
    : undefined;
  const stop = async (): Promise<void> => {
    app.startDraining();
    // Who comes over a kept connection now is answered, and told to make its next one elsewhere.
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false;
    });
    await delay(config.drainNoticeMs);
    const closed = once(server, 'close');
    server.close();
    cutStreams();
    const cut = setTimeout(() => {
      server.closeAllConnections();
    }, DRAIN_MS);
    await Promise.all([sockets.drain(), background?.stop(), closed]);
    clearTimeout(cut);
    await app.close();
  };
  let stopped: Promise<void> | undefined;
  return { app, url: urlOf(server, config.host), close: () => (stopped ??= stop()) };
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

/**
 * Streams of events never end by themselves, and would keep the server open. They are cut, not completed: a client that was
 * told "complete" would not connect again.
 */
function trackStreams(server: Server): () => void {
  const streams = new Set<Socket>();
  server.on('request', ({ headers, socket }, response) => {
    if (headers.accept?.includes('text/event-stream') !== true) return;
    streams.add(socket);
    response.once('close', () => streams.delete(socket));
  });
  return () => {
    for (const socket of streams) socket.destroy();
  };
}
