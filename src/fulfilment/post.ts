import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPublicAddress, literalAddress } from '../config/addresses.ts';
import { ForbiddenDestinationError, publicLookup } from './destination.ts';

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface PostLimits {
  /** Resolving, connecting and the TLS handshake. */
  readonly connectTimeoutMs: number;
  /** From the start to the answer's status. */
  readonly totalTimeoutMs: number;
  /** For development: a merchant's server on this machine. */
  readonly allowPrivateAddresses: boolean;
  /** How names are resolved if private addresses aren't allowed. */
  readonly lookup?: LookupFunction;
}

/** The status, or why there is none. A reason contains neither the URL nor anything that the other side sent. */
export type PostResult =
  | { readonly kind: 'ANSWERED'; readonly status: number }
  | { readonly kind: 'FORBIDDEN' }
  | { readonly kind: 'NO_ANSWER'; readonly reason: string };

/**
 * Sends one POST to a server that isn't ours. Only the status counts: redirects aren't followed, and the body is never read.
 * A connection is used once. Never throws.
 */
export function post({ url, headers, body, signal }: PostRequest, limits: PostLimits): Promise<PostResult> {
  const literal = literalAddress(url);
  if (literal !== undefined && !limits.allowPrivateAddresses && !isPublicAddress(literal))
    return Promise.resolve({ kind: 'FORBIDDEN' });
  const secure = url.protocol === 'https:';
  return new Promise((resolve) => {
    const outgoing = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' },
      agent: false,
      signal,
      ...(limits.allowPrivateAddresses ? {} : { lookup: limits.lookup ?? publicLookup() }),
    });
    const end = (result: PostResult): void => {
      clearTimeout(connecting);
      clearTimeout(total);
      resolve(result);
      outgoing.destroy();
    };
    const noAnswer = (reason: string) => () => {
      end({ kind: 'NO_ANSWER', reason });
    };
    const connecting = setTimeout(noAnswer('no connection in time'), limits.connectTimeoutMs);
    const total = setTimeout(noAnswer('no answer in time'), limits.totalTimeoutMs);
    outgoing.once('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        clearTimeout(connecting);
      });
    });
    outgoing.once('response', ({ statusCode = 0 }) => {
      end({ kind: 'ANSWERED', status: statusCode });
    });
    // `destroy` may cause one more error. It needs a listener; the result stays.
    outgoing.on('error', (error) => {
      end(
        error instanceof ForbiddenDestinationError
          ? { kind: 'FORBIDDEN' }
          : { kind: 'NO_ANSWER', reason: codeOf(error) },
      );
    });
    outgoing.once('close', noAnswer('the connection was closed'));
    outgoing.end(body);
  });
}

/** `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`, …: the messages of these errors would name the address. */
function codeOf(error: Error): string {
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : error.name;
}
