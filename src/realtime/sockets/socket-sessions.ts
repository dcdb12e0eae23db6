import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  OperationTypeNode,
  getOperationAST,
} from 'graphql';
import { CloseCode, type Context, type SubscribePayload, makeServer } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import type { TokenVerifier } from '../../auth/token.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { Clock } from '../../ledger/kernel/clock.ts';
import { defined } from '../../ledger/kernel/defined.ts';
import type { Ids } from '../../ledger/kernel/ids.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { type Session, closeSocket, createAdmission } from './socket-admission.ts';
import type { Timers } from '../timers.ts';

export interface SocketRequest {
  readonly viewer: Viewer;
  readonly requestId: string;
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

type Results = AsyncIterable<ExecutionResult> | ExecutionResult;

/** How operations run: the same schema, limits, context and masking as over HTTP. */
export interface SocketOperations {
  /** Parses, validates and limits: what to run, or what is wrong with it. */
  readonly prepare: (
    request: SocketRequest,
  ) => Promise<ExecutionArgs | readonly GraphQLError[]> | ExecutionArgs | readonly GraphQLError[];
  readonly execute: (args: ExecutionArgs) => Promise<Results> | Results;
  readonly subscribe: (args: ExecutionArgs) => Promise<Results> | Results;
}

export interface SocketLimits {
  /** From the socket's opening to `connection_init`. */
  readonly initTimeoutMs: number;
  /** Between pings; who hasn't answered one by the next is gone. */
  readonly keepAliveMs: number;
  readonly maxMessageBytes: number;
  /** What a client may leave unread before it is cut off. Events don't count: they wait for the client. */
  readonly maxUnreadBytes: number;
  readonly operationsPerSocket: number;
  readonly socketsPerPrincipal: number;
  /** How long a client may take to answer a close. */
  readonly closeGraceMs: number;
}

export interface SocketSessionsOptions {
  readonly verifier: TokenVerifier;
  readonly operations: SocketOperations;
  readonly limits: SocketLimits;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'token'>;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'count'>;
}

type SessionContext = Context<Record<string, unknown>, Session>;
type Close = (socket: WebSocket, code: number, reason: string) => void;

/** Speaks graphql-transport-ws on sockets that are already open: who is it, what may it run, when does it end. */
export function createSocketSessions(options: SocketSessionsOptions): {
  readonly serve: (socket: WebSocket) => void;
} {
  const { operations, limits, timers, clock, logger } = options;
  const close: Close = (socket, code, reason) => {
    closeSocket(socket, code, reason, timers, limits.closeGraceMs);
  };
  const { socketsPerPrincipal } = limits;
  const admit = createAdmission({ ...options, socketsPerPrincipal, close });
  const server = makeServer<Record<string, unknown>, Session>({
    connectionInitWaitTimeout: limits.initTimeoutMs,
    onConnect: ({ extra, connectionParams }) => admit(extra, connectionParams?.['authorization']),
    onSubscribe: (context, _id, payload) => prepare(options, context, payload),
    execute: (args) => operations.execute(args),
    subscribe: (args) => operations.subscribe(args),
    onComplete: ({ extra }) => {
      // A source ends at expiry, and its `complete` would tell the client that there is no more to come. It isn't so: the socket
      // closes first, and the client comes again with a fresh token.
      if (extra.viewer !== undefined && clock.nowMs() >= extra.viewer.expiresAtMs) {
        close(extra.socket, CloseCode.Forbidden, 'Token expired');
      }
    },
    onError: (_context, _id, _payload, errors) => errors.map(overSocket),
    onNext: (_context, _id, _payload, _args, { data, errors, extensions }) =>
      defined({ data, errors: errors?.map(overSocket), extensions }),
  });

  return {
    serve: (socket) => {
      const session: Session = { socket, undo: [] };
      const closed = server.opened(transport(options, close, socket), session);
      socket.on('error', (error) => {
        logger.info('A socket failed', {}, error);
      });
      socket.once('close', (code, reason) => {
        for (const undo of session.undo) undo();
        void closed(code, reason.toString());
      });
    },
  };
}

async function prepare(
  { operations, limits, ids }: SocketSessionsOptions,
  { extra, subscriptions }: SessionContext,
  { query, operationName, variables }: SubscribePayload,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  if (extra.viewer === undefined) return [refusal('UNAUTHENTICATED', 'The connection has no viewer.')];
  if (Object.keys(subscriptions).length > limits.operationsPerSocket) {
    return [refusal('RATE_LIMITED', 'Too many operations on one socket.')];
  }
  const prepared = await operations.prepare({
    viewer: extra.viewer,
    requestId: ids.token(),
    query,
    operationName: operationName ?? undefined,
    variables: variables ?? undefined,
  });
  if (!('document' in prepared)) return prepared;
  const operation = getOperationAST(prepared.document, prepared.operationName)?.operation;
  if (operation !== OperationTypeNode.MUTATION) return prepared;
  // A socket that breaks says nothing of what became of a payment, and its library would not ask again with the same key.
  return [refusal('BAD_REQUEST', 'A mutation is sent by HTTP POST, never over a socket.')];
}

/** What graphql-ws needs of a socket. */
function transport(
  { limits, logger }: SocketSessionsOptions,
  close: Close,
  socket: WebSocket,
): Parameters<ReturnType<typeof makeServer>['opened']>[0] {
  return {
    protocol: socket.protocol,
    send: (text) => send(socket, text),
    close: (code = CloseCode.InternalServerError, reason = '') => {
      close(socket, code, reason);
    },
    onMessage: (handle) => {
      socket.on('message', (data) => {
        // It sends and doesn't read.
        if (socket.bufferedAmount > limits.maxUnreadBytes) {
          socket.terminate();
          return;
        }
        void handle(textOf(data)).catch((error: unknown) => {
          logger.error('A socket message could not be handled', {}, error);
          close(socket, CloseCode.InternalServerError, 'Internal error');
        });
      });
    },
  };
}

/** Resolves once the text has left for the client: so a source goes on only as fast as its client reads. */
function send(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) {
      resolve();
      return;
    }
    // An error means that the socket is closing, and its close ends the source.
    socket.send(text, () => {
      resolve();
    });
  });
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString('utf8');
}

function refusal(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** What an error's HTTP status would be means nothing on a socket. One without a code is graphql-ws's, about the request. */
function overSocket(error: GraphQLError): GraphQLFormattedError {
  const { extensions = {}, ...rest } = error.toJSON();
  const kept = Object.entries(extensions).filter(([name]) => name !== 'http');
  return { ...rest, extensions: { code: 'BAD_REQUEST', ...Object.fromEntries(kept) } };
}
