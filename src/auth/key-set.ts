import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
} from 'jose';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';

/** How long a fetched set is fresh. After it, the next token has it fetched again in the background. */
const FRESH_MS = 10 * 60_000;
/** The least from one fetch to the next, whatever tokens ask for: a stranger can name a new key in each of his. */
const PAUSE_MS = 30_000;
/** The same after a fetch that failed. */
const PAUSE_AFTER_FAILURE_MS = 5_000;
const FETCH_TIMEOUT_MS = 3_000;
/** Far more than any provider's keys; a longer answer isn't read to its end. */
const MAX_SET_BYTES = 256 * 1024;

/** No set of keys can be had. It says nothing about the token. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

/** FRESH: fetched lately. STALE: the provider can't be reached, the last good set serves. MISSING: tokens can't be checked. */
export type KeySetStatus = 'FRESH' | 'STALE' | 'MISSING';

export interface KeySet {
  /** The key for a token, for jose. Throws its errors when the set has none, KeysUnavailable when there is no set. */
  readonly findKey: JWTVerifyGetKey;
  readonly status: () => KeySetStatus;
}

export interface KeySetOptions {
  readonly url: string;
  /** How long the last good set serves while no newer one can be fetched. */
  readonly servesForMs: number;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'count'>;
  readonly logger: Pick<Logger, 'warn'>;
}

interface FetchedSet {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly fetchedAtMs: number;
}

/**
 * An identity provider's public keys (RFC 7517). They are fetched at once; from then on a token waits for a fetch only if it
 * names a key that the set doesn't have. One fetch runs at a time. What isn't a usable set never replaces one that is.
 */
export function createKeySet({ url, servesForMs, clock, metrics, logger }: KeySetOptions): KeySet {
  let current: FetchedSet | undefined;
  let running: Promise<boolean> | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let lastFailed = false;

  async function fetchOnce(): Promise<boolean> {
    triedAtMs = clock.nowMs();
    try {
      current = { find: createLocalJWKSet(await fetchKeySet(url)), fetchedAtMs: triedAtMs };
      lastFailed = false;
    } catch (error) {
      lastFailed = true;
      logger.warn("the identity provider's keys can not be fetched", {}, error);
    }
    metrics.count('KeySetFetch', { result: lastFailed ? 'FAILED' : 'OK' });
    return !lastFailed;
  }

  /** Resolves to whether the set is newer than before. Shares a fetch that runs, and begins none within the pause. */
  function refresh(): Promise<boolean> {
    if (running === undefined) {
      if (clock.nowMs() - triedAtMs < (lastFailed ? PAUSE_AFTER_FAILURE_MS : PAUSE_MS))
        return Promise.resolve(false);
      running = fetchOnce().finally(() => {
        running = undefined;
      });
    }
    return running;
  }

  function serving(): FetchedSet | undefined {
    return current !== undefined && clock.nowMs() - current.fetchedAtMs < servesForMs ? current : undefined;
  }

  void refresh();
  return {
    findKey: async (header, token) => {
      if (serving() === undefined) await refresh();
      const set = serving();
      if (set === undefined) throw new KeysUnavailable('no key set can be fetched');
      if (clock.nowMs() - set.fetchedAtMs >= FRESH_MS) void refresh();
      try {
        return await set.find(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        return await findInNewer(header, token, error);
      }
    },
    status: () => {
      if (serving() === undefined) return 'MISSING';
      return lastFailed ? 'STALE' : 'FRESH';
    },
  };

  /** The provider may have a new key. While it can't be asked, nobody knows. */
  async function findInNewer(
    header: JWSHeaderParameters,
    token: FlattenedJWSInput,
    notFound: errors.JWKSNoMatchingKey,
  ): Promise<CryptoKey> {
    const newer = await refresh();
    if (newer && current !== undefined) return await current.find(header, token);
    if (lastFailed) throw new KeysUnavailable('the key may be newer than the set', { cause: notFound });
    throw notFound;
  }
}

async function fetchKeySet(url: string): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`the identity provider answers ${String(response.status)}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_SET_BYTES) throw new Error('the key set is too large');
    chunks.push(chunk);
  }
  const set: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (!hasKeys(set)) throw new Error('the answer holds no public keys');
  return set;
}

/** A set without one key that could check a signature would lock everybody out, so it counts as a failure to fetch. */
function hasKeys(set: unknown): set is JSONWebKeySet {
  return (
    typeof set === 'object' &&
    set !== null &&
    'keys' in set &&
    Array.isArray(set.keys) &&
    set.keys.every((key) => typeof key === 'object' && key !== null) &&
    set.keys.some((key: { readonly kty?: unknown }) => PUBLIC_KEY_TYPES.includes(key.kty))
  );
}

const PUBLIC_KEY_TYPES: readonly unknown[] = ['RSA', 'EC', 'OKP'];
