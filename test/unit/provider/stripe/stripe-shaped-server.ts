import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createStripeProvider,
  type StripeProviderOptions,
} from '../../../../src/provider/stripe/stripe-adapter.ts';
import type { PaymentProvider } from '../../../../src/provider/port.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The bytes of the body, as text. */
  readonly body: string;
}

export type Reply = (response: ServerResponse, request: ReceivedRequest) => void;

export interface StripeShapedServer {
  readonly origin: URL;
  readonly requests: ReceivedRequest[];
  /** Answers the next requests in turn, the last one from then on. */
  readonly replyWith: (...replies: readonly Reply[]) => void;
  readonly close: () => Promise<void>;
}

/** A server that records what arrives and answers as told: Stripe's side of the wire, without any of its rules. */
export async function startStripeShapedServer(): Promise<StripeShapedServer> {
  const requests: ReceivedRequest[] = [];
  let replies: Reply[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      requests.push(received);
      const reply = replies.length > 1 ? replies.shift() : replies[0];
      if (reply === undefined) throw new Error('no reply was set');
      reply(response, received);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    origin: new URL(`http://127.0.0.1:${port}`),
    requests,
    replyWith: (...given) => {
      replies = [...given];
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function json(status: number, body: unknown): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1' });
    response.end(JSON.stringify(body));
  };
}

/** An error as Stripe answers it. */
export function stripeError(status: number, error: Readonly<Record<string, unknown>>): Reply {
  return json(status, { error: { message: 'About alice@example.com', ...error } });
}

export const reset: Reply = (response) => {
  response.socket?.resetAndDestroy();
};

export const silence: Reply = () => undefined;

export const WEBHOOK_SECRET = 'whsec_current';

export function providerAt(apiBase: URL, options: Partial<StripeProviderOptions> = {}): PaymentProvider {
  return createStripeProvider({
    secretKey: 'sk_test_1',
    webhookSecrets: [WEBHOOK_SECRET],
    timeoutMs: 5_000,
    ...options,
    apiBase,
  });
}
