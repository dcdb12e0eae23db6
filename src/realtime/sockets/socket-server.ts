import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Metrics } from '../../observability/metrics.ts';
import { parseUrl } from '../../config/urls.ts';
import { CLOSE, createClose } from './socket-admission.ts';
import { type SocketLimits, type SocketSessionsOptions, createSocketSessions } from './socket-sessions.ts';
import type { Timers } from '../timers.ts';

export interface SocketServerOptions extends Omit<SocketSessionsOptions, 'limits' | 'metrics'> {
  /** The HTTP server whose upgrades to take. */
  readonly server: Server;
  readonly path: string;
  /** Whether a web page may open a socket, beside the gateway's own. Other programs send no origin and may. */
  readonly isAllowedOrigin: (origin: string) => boolean;
  /** Whether the server goes by this name, of a `Host` header. */
  readonly isOwnHost: (host: string | undefined) => boolean;
  readonly limits?: Partial<SocketLimits>;
  readonly metrics: Pick<Metrics, 'count' | 'set'>;
}

export interface SocketServer {
  /** Refuses new sockets with 503, tells the open ones to reconnect elsewhere (1012), and resolves once all are closed. */
  readonly drain: () => Promise<void>;
}

const DEFAULT_LIMITS: SocketLimits = {
  initTimeoutMs: 3_000,
  keepAliveMs: 12_000,
  maxMessageBytes: 64 * 1024,
  messagesPerWindow: 500,
  messageWindowMs: 10_000,
  maxUnreadBytes: 1024 * 1024,
  operationsPerSocket: 50,
  socketsPerPrincipal: 20,
  closeGraceMs: 500,
};

/** Serves GraphQL over WebSocket (graphql-transport-ws) on a path of an HTTP server (docs/DESIGN.md §9). */
export function attachWebSocketServer(options: SocketServerOptions): SocketServer {
  const { server, path, timers, metrics } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const close = createClose(timers, limits.closeGraceMs);
  const serve = createSocketSessions({ ...options, limits }, close);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxMessageBytes,
    handleProtocols: (protocols) =>
      protocols.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false,
  });
  const showCount = (): void => {
    metrics.set('sockets', sockets.clients.size);
  };
  let draining = false;
  keepAlive(sockets, limits.keepAliveMs, timers);

  function refusalOf(request: IncomingMessage): string | undefined {
    if (request.url?.split('?')[0] !== path) return '404 Not Found';
    if (draining) return '503 Service Unavailable';
    if (!options.isOwnHost(request.headers.host)) return '421 Misdirected Request';
    return mayOpen(request, options.isAllowedOrigin) ? undefined : '403 Forbidden';
  }

  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      refuse(stream, refusal);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      showCount();
      socket.once('close', showCount);
      serve(socket);
    });
  });

  return {
    drain: async () => {
      draining = true;
      const closing = [...sockets.clients].map((socket) => {
        const closed = new Promise((resolve) => socket.once('close', resolve));
        close(socket, CLOSE.restart, 'Service restart');
        return closed;
      });
      await Promise.all(closing);
    },
  };
}

/** Tokens come in a message, never in a cookie, so a foreign page could not use a visitor's. This is a second defence. */
function mayOpen({ headers }: IncomingMessage, isAllowedOrigin: (origin: string) => boolean): boolean {
  const { origin, host } = headers;
  if (origin === undefined || isAllowedOrigin(origin)) return true;
  return host !== undefined && parseUrl(origin)?.host === host;
}

function refuse(stream: Duplex, status: string): void {
  stream.on('error', () => undefined);
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Pings all sockets in turns, and cuts off those that haven't answered the last ping: a phone in a tunnel says no goodbye. */
function keepAlive(sockets: WebSocketServer, everyMs: number, timers: Timers): void {
  const awaited = new WeakSet<WebSocket>();
  const turn = (): void => {
    for (const socket of sockets.clients) {
      if (awaited.has(socket)) {
        socket.terminate();
        continue;
      }
      awaited.add(socket);
      socket.once('pong', () => awaited.delete(socket));
      socket.ping();
    }
    timers.after(everyMs, turn);
  };
  timers.after(everyMs, turn);
}
