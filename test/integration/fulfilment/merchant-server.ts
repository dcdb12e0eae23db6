import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse) => void;

/** A merchant's server that behaves as the test says, one behaviour per request; the last one stays. */
export interface MerchantServer {
  readonly origin: string;
  readonly port: number;
  readonly received: readonly Received[];
  readonly answerWith: (...answers: readonly Answer[]) => void;
  readonly stop: () => Promise<void>;
}

export const answers = {
  status:
    (status: number, body = ''): Answer =>
    (response) =>
      response.writeHead(status).end(body),
  redirectTo:
    (location: string, status = 302): Answer =>
    (response) =>
      response.writeHead(status, { location }).end(),
  nothing: (): Answer => () => undefined,
  /** A status, and then the connection breaks in the middle of the body. */
  statusThenDeath:
    (status: number): Answer =>
    (response) => {
      response.writeHead(status, { 'content-length': '1000' });
      response.write('half of', () => response.destroy());
    },
  /** A status at once, and a body that never ends. */
  endlessBody:
    (status: number): Answer =>
    (response) => {
      response.writeHead(status);
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(1_024), () => setImmediate(more));
      };
      more();
    },
  death: (): Answer => (response) => response.destroy(),
} as const;

export async function startMerchantServer(port = 0): Promise<MerchantServer> {
  const received: Received[] = [];
  let queue: readonly Answer[] = [answers.status(204)];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      received.push({ path: request.url ?? '', headers: request.headers, body });
      const [answer] = queue;
      if (queue.length > 1) queue = queue.slice(1);
      answer?.(response);
    });
    // The other side may be gone at any moment: that is what is tested.
    response.on('error', () => undefined);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    port: address.port,
    received,
    answerWith: (...next) => {
      queue = next;
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
