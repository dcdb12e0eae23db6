import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { crc32 } from 'node:zlib';
import {
  type FaultScript,
  type HeldRequests,
  type ProxiedOperation,
  faultScript,
  heldRequests,
} from './fault-script.ts';
import { type Fault, canceledAnswer, errorAnswer, serverErrorAnswer } from './faults.ts';
import { partOf, partlyAnswered } from './partial-read.ts';
import {
  type Answer,
  type Passing,
  type Rewriting,
  itemCount,
  receive,
  rewriter,
  send,
} from './proxied-request.ts';

export interface FaultProxyOptions extends Rewriting {
  /** The engine behind it. */
  readonly target: string;
}

/** An HTTP proxy before an engine that injects faults by script or by seed. It keeps no clock: tests say when. */
export interface FaultProxy {
  readonly endpoint: string;
  readonly next: FaultScript['next'];
  readonly randomly: FaultScript['randomly'];
  /** Ends every rule and the random mode; what is held stays held. */
  readonly calm: FaultScript['calm'];
  /** Lets everything held go on, and resolves when the engine has done it all. */
  readonly release: HeldRequests['release'];
  /** Resolves once this many requests are held. */
  readonly whenHeld: HeldRequests['whenHeld'];
  /** What came in from the gateway since the last `resetCounts`: of one operation, or of all. */
  readonly seen: (operation?: ProxiedOperation) => number;
  /** What the engine got. */
  readonly forwarded: (operation?: ProxiedOperation) => number;
  readonly resetCounts: () => void;
  /** The client request tokens that came in, in order. */
  readonly tokens: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const rewrite = rewriter(options);
  const { take, ...script } = faultScript();
  const { hold, ...held } = heldRequests();
  const counter = requestCounter();

  const forward: Forward = async (passing) => {
    counter.forwarded(passing);
    return await send(options.target, agent, passing.headers, rewrite(passing.body));
  };
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const passing = await receive(incoming, outgoing);
    counter.seen(passing);
    await apply(take(passing.operation), passing, forward, hold);
  };
  const server = createServer((incoming, outgoing) => {
    // The engine may have been killed: then the client sees a closed connection, as it would without a proxy.
    handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');

  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    ...script,
    ...held,
    ...counter.readings,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      agent.destroy();
    },
  };
}

type Forward = (passing: Passing) => Promise<Answer>;
type Hold = (go: () => Promise<void>) => Promise<void>;

async function apply(
  fault: Fault | undefined,
  passing: Passing,
  forward: Forward,
  hold: Hold,
): Promise<void> {
  const close = (): void => {
    passing.incoming.socket.destroy();
  };
  const reply = ({ status, headers, body }: Answer): void => {
    passing.outgoing.writeHead(status, headers).end(body);
  };
  if (fault === undefined || fault.kind === 'PASS') {
    reply(await forward(passing));
    return;
  }
  switch (fault.kind) {
    case 'DROP_BEFORE':
      close();
      return;
    case 'DROP_AFTER':
      await forward(passing);
      close();
      return;
    case 'RESET':
      if (fault.after) await forward(passing);
      passing.incoming.socket.resetAndDestroy();
      return;
    case 'LATE':
      if (fault.client === 'DISCONNECTED') close();
      await hold(async () => {
        await forward(passing);
      });
      close();
      return;
    case 'HOLD':
      await hold(async () => {
        reply(await forward(passing));
      });
      return;
    case 'DUPLICATE': {
      const first = await forward(passing);
      const second = await forward(passing);
      reply(fault.answer === 'FIRST' ? first : second);
      return;
    }
    case 'TRUNCATE':
      truncate(passing, await forward(passing), fault);
      return;
    case 'UNPROCESSED':
      reply(await inPart(passing, fault.key, forward));
      return;
    case 'SERVER_ERROR':
      if (fault.after) await forward(passing);
      reply(ownAnswer(serverErrorAnswer(fault.status)));
      return;
    case 'ERROR':
      reply(ownAnswer(errorAnswer(fault.name)));
      return;
    case 'CANCELED':
      reply(ownAnswer(canceledAnswer(fault, itemCount(passing.body))));
      return;
  }
}

async function inPart(passing: Passing, key: 'FIRST' | 'LAST', forward: Forward): Promise<Answer> {
  const part = partOf(passing.body, key);
  if (part === undefined) return await forward(passing);
  const { undone, rest } = part;
  if (rest === undefined) return ownAnswer({ status: 200, body: partlyAnswered(undone, undefined) });
  const answer = await forward({ ...passing, body: rest });
  if (answer.status !== 200) return answer;
  return ownAnswer({ status: 200, body: partlyAnswered(undone, answer.body.toString('utf8')) });
}

/** Cut off: the head promises the whole body. Cleanly: the head promises the little that comes. */
function truncate(
  { outgoing, incoming }: Passing,
  { status, headers, body }: Answer,
  { keep, cleanly }: Extract<Fault, { kind: 'TRUNCATE' }>,
): void {
  const kept = body.subarray(0, keep === 'HALF' ? Math.floor(body.length / 2) : 0);
  outgoing.writeHead(status, { ...headers, 'content-length': String((cleanly ? kept : body).length) });
  if (cleanly) {
    outgoing.end(kept);
    return;
  }
  outgoing.flushHeaders();
  outgoing.write(kept, () => incoming.socket.destroy());
}

function ownAnswer({ status, body }: { readonly status: number; readonly body: string }): Answer {
  const bytes = Buffer.from(body);
  return {
    status,
    body: bytes,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': String(bytes.length),
      'x-amz-crc32': String(crc32(bytes)),
      'x-amzn-requestid': randomUUID(),
    },
  };
}

interface RequestCounter {
  readonly seen: (passing: Passing) => void;
  readonly forwarded: (passing: Passing) => void;
  readonly readings: Pick<FaultProxy, 'seen' | 'forwarded' | 'resetCounts' | 'tokens'>;
}

function requestCounter(): RequestCounter {
  let seen: string[] = [];
  let forwarded: string[] = [];
  let tokens: string[] = [];
  const count = (operations: readonly string[], operation: ProxiedOperation | undefined): number =>
    operations.filter((name) => operation === undefined || name === operation).length;
  return {
    seen: ({ operation, body }) => {
      seen.push(operation);
      const token = /"ClientRequestToken":"([^"]*)"/.exec(body)?.[1];
      if (token !== undefined) tokens.push(token);
    },
    forwarded: ({ operation }) => {
      forwarded.push(operation);
    },
    readings: {
      seen: (operation) => count(seen, operation),
      forwarded: (operation) => count(forwarded, operation),
      tokens: () => tokens,
      resetCounts: () => {
        seen = [];
        forwarded = [];
        tokens = [];
      },
    },
  };
}
