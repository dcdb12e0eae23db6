import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

/*
 * An example of a merchant's server that is told of its orders (docs/FOLLOW-UPS.md): verify, deduplicate, keep what is
 * newest. It stands alone, on Node's own modules, to be copied from.
 */

export interface OrderMessage {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly orderId: string;
    readonly version: number;
    readonly state: string;
    readonly amount: string;
    readonly currency: string;
    readonly lines: readonly { readonly name: string; readonly quantity: number }[];
  };
}

/** How far a message's time may be from ours: an old one may be a recording that somebody plays again. */
const TOLERANCE_S = 5 * 60;
const MAX_BODY_BYTES = 64 * 1024;

/**
 * Whether a message is authentic and fresh, by Standard Webhooks: an HMAC over id, time and the raw bytes of the body.
 * Check before parsing, over what arrived: text that was parsed and printed again has other bytes.
 */
export function isAuthentic(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string,
  nowS: number,
): boolean {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name] ?? ''),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined) return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowS - Number.parseInt(timestamp, 10)) > TOLERANCE_S)
    return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  // Two while a secret is being rotated: one of them is by ours.
  return signatures.split(' ').some((signature) => {
    const [version, encoded = ''] = signature.split(',');
    const given = Buffer.from(encoded, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** What a receiver keeps. In a database both live in one transaction, so that a crash loses or repeats nothing. */
export interface Inbox {
  /** Ids of the messages that were taken in: a delivery whose answer got lost comes again. */
  readonly seen: Set<string>;
  /** The newest message of each order: messages may overtake one another. */
  readonly newest: Map<string, OrderMessage>;
}

export function createInbox(): Inbox {
  return { seen: new Set(), newest: new Map() };
}

/** Takes a message in, once. Says whether it was new. */
export function takeIn({ seen, newest }: Inbox, id: string, message: OrderMessage): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const { orderId, version } = message.data;
  if ((newest.get(orderId)?.data.version ?? 0) < version) newest.set(orderId, message);
  return true;
}

export interface MerchantReceiverOptions {
  readonly port: number;
  readonly secret: string;
  readonly nowS: () => number;
  readonly onMessage: (message: OrderMessage) => void;
}

export interface MerchantReceiver {
  readonly url: string;
  readonly inbox: Inbox;
  readonly stop: () => Promise<void>;
}

/** Listens on this machine. 401 for what isn't authentic, 204 as soon as a message is taken in: work comes after. */
export async function startMerchantReceiver(options: MerchantReceiverOptions): Promise<MerchantReceiver> {
  const inbox = createInbox();
  const server = createServer((request, response) => {
    receive(options, inbox, request, response).catch(() => response.destroy());
  });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/hitotsu`,
    inbox,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function receive(
  { secret, nowS, onMessage }: MerchantReceiverOptions,
  inbox: Inbox,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  if (body === undefined || !isAuthentic(request.headers, body, secret, nowS())) {
    response.writeHead(401).end();
    return;
  }
  // Signed by the gateway, whose payload is documented; a server of your own may check its shape as well.
  const message = JSON.parse(body.toString('utf8')) as OrderMessage;
  const isNew = takeIn(inbox, String(request.headers['webhook-id']), message);
  response.writeHead(204).end();
  if (isNew) onMessage(message);
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // A request without an encoding set gives buffers.
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
