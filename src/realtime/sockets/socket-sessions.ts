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
import type { Viewer } from '../../auth/viewer.ts';
import type { Clock } from '../../ledger/kernel/clock.ts';
import { defined } from '../../ledger/kernel/defined.ts';
import type { Ids } from '../../ledger/kernel/ids.ts';
import type { Logger } from '../../observability/logger.ts';
import {
  type AdmissionOptions,
  CLOSE,
  type Close,
  type Session,
  createAdmission,
} from './socket-admission.ts';

export interface SocketRequest {
  readonly viewer: Viewer;
  readonly requestId: string;
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

type Prepared = ExecutionArgs | readonly GraphQLError[];
type Results = AsyncIterable<ExecutionResult> | ExecutionResult;

/** How operations run: the same schema, limits, context and masking as over HTTP. */
export interface SocketOperations {
  /** Parses, validates and checks the limits. Returns what to run, or what is wrong with it. */
  readonly prepare: (request: SocketRequest) => Promise<Prepared> | Prepared;
  readonly execute: (args: ExecutionArgs) => Promise<Results> | Results;
  readonly subscribe: (args: ExecutionArgs) => Promise<Results> | Results;
}

export interface SocketLimits {
  /** From the socket's opening to `connection_init`. */
  readonly initTimeoutMs: number;
  /** Between pings. A client that hasn't answered one by the next is cut off. */
  readonly keepAliveMs: number;
  readonly maxMessageBytes: number;
  /** How many messages a client may send in `messageWindowMs`. */
  readonly messagesPerWindow: number;
  readonly messageWindowMs: number;
  /** What a client may leave unread before it is cut off. Events don't count: they wait for the client. */
  readonly maxUnreadBytes: number;
  readonly operationsPerSocket: number;
  readonly socketsPerPrincipal: number;
  /** How long a client may take to answer a close. */
  readonly closeGraceMs: number;
}

export interface SocketSessionsOptions extends AdmissionOptions {
  readonly operations: SocketOperations;
  readonly limits: SocketLimits;
  readonly ids: Pick<Ids, 'token'>;
  readonly logger: Logger;
}

/** Speaks graphql-transport-ws on open sockets: who the client is, what it may run, and when the session ends. */
export function createSocketSessions(
  options: SocketSessionsOptions,
  close: Close,
): (socket: WebSocket) => void {
  const { operations, limits, clock, logger } = options;
  const admit = createAdmission(options, limits.socketsPerPrincipal, close);
  const server = makeServer<Record<string, unknown>, Session>({
    connectionInitWaitTimeout: limits.initTimeoutMs,
    onConnect: ({ extra, connectionParams }) => admit(extra, connectionParams?.['authorization']),
    onSubscribe: (context, _id, payload) => prepare(options, context, payload),
    execute: (args) => operations.execute(args),
    subscribe: (args) => operations.subscribe(args),
    onComplete: ({ extra }) => {
      // A source ends when the token expires. A `complete` would tell the client that no more will come, which is wrong. So the
      // socket closes first, and the client connects again with a fresh token.
      if (extra.viewer !== undefined && clock.nowMs() >= extra.viewer.expiresAtMs) {
        close(extra.socket, CloseCode.Forbidden, 'Token expired');
      }
    },
    onError: (_context, _id, _payload, errors) => errors.map(overSocket),
    onNext: (_context, _id, _payload, _args, { data, errors, extensions }) =>
      defined({ data, errors: errors?.map(overSocket), extensions }),
  });

  return (socket) => {
    const session: Session = { socket, undo: [] };
    const closed = server.opened(transport(options, close, socket), session);
    socket.on('error', (error) => {
      logger.info('A socket failed', {}, error);
    });
    socket.once('close', (code, reason) => {
      for (const undo of session.undo) undo();
      void closed(code, reason.toString());
    });
  };
}

async function prepare(
  { operations, limits, ids }: SocketSessionsOptions,
  { extra, subscriptions }: Context<Record<string, unknown>, Session>,
  { query, operationName, variables }: SubscribePayload,
): Promise<Prepared> {
  if (extra.viewer === undefined) return refusal('UNAUTHENTICATED', 'The connection has no viewer.');
  if (Object.keys(subscriptions).length > limits.operationsPerSocket)
    return refusal('RATE_LIMITED', 'Too many operations on one socket.');
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
  // If a socket breaks, nobody learns the outcome of a payment, and client libraries don't repeat it with the same key.
  return refusal('BAD_REQUEST', 'A mutation is sent by HTTP POST, never over a socket.');
}

/** What graphql-ws needs of a socket. */
function transport(
  { limits, logger, clock, metrics }: SocketSessionsOptions,
  close: Close,
  socket: WebSocket,
): Parameters<ReturnType<typeof makeServer>['opened']>[0] {
  return {
    protocol: socket.protocol,
    // Resolves once the text has left, so that a source goes on only as fast as its client reads. An error needs no handling:
    // the socket is closing, and its close ends the source.
    send: (text) =>
      new Promise((resolve) => {
        if (socket.readyState !== socket.OPEN) resolve();
        else
          socket.send(text, () => {
            resolve();
          });
      }),
    close: (code = CloseCode.InternalServerError, reason = '') => {
      close(socket, code, reason);
    },
    onMessage: (handle) => {
      const isWithinRate = messageRate(limits, clock);
      socket.on('message', (data) => {
        // What was sent before the client heard of the close is dropped.
        if (socket.readyState !== socket.OPEN) return;
        if (!isWithinRate()) {
          metrics.count('RateLimited', { operation: 'socket' });
          close(socket, CLOSE.tryLater, 'Too many messages');
          return;
        }
        // The client sends but doesn't read.
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

/** Whether one more message keeps within the rate of its socket. Each costs work, also one that is refused. */
function messageRate({ messagesPerWindow, messageWindowMs }: SocketLimits, clock: Clock): () => boolean {
  let endsAtMs = 0;
  let count = 0;
  return () => {
    const nowMs = clock.nowMs();
    if (nowMs >= endsAtMs) {
      endsAtMs = nowMs + messageWindowMs;
      count = 0;
    }
    count += 1;
    return count <= messagesPerWindow;
  };
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString('utf8');
}

function refusal(code: string, message: string): readonly GraphQLError[] {
  return [new GraphQLError(message, { extensions: { code } })];
}

/** An HTTP status means nothing on a socket. An error without a code comes from graphql-ws and is about the request. */
function overSocket(error: GraphQLError): GraphQLFormattedError {
  const { extensions = {}, ...rest } = error.toJSON();
  const kept = Object.entries(extensions).filter(([name]) => name !== 'http');
  return { ...rest, extensions: { code: 'BAD_REQUEST', ...Object.fromEntries(kept) } };
}
