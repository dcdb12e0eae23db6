import { generateKeyPairSync } from 'node:crypto';
import { type CryptoKey, exportJWK } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeySet, type KeySet, KeysUnavailable } from '../../../src/auth/key-set.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import {
  type IdentityProvider,
  type ProviderAnswer,
  startIdentityProvider,
} from '../../support/identity-provider.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DOWN: ProviderAnswer = { status: 503, body: 'down' };

let nowMs = 1_780_000_000_000;
let provider: IdentityProvider;

async function setOf(...kids: readonly string[]): Promise<ProviderAnswer> {
  const keys = await Promise.all(
    kids.map(async (kid) => {
      const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return { kid, alg: 'ES256', ...(await exportJWK(publicKey)) };
    }),
  );
  return { status: 200, body: JSON.stringify({ keys }) };
}

function keySetOf(): KeySet {
  return createKeySet({
    url: provider.url,
    servesForMs: DAY_MS,
    clock: { nowMs: () => nowMs },
    metrics: createMetrics(),
    logger: { warn: () => undefined },
  });
}

function find(keys: KeySet, kid: string): Promise<CryptoKey | KeysUnavailable | string> {
  const found = keys.findKey({ alg: 'ES256', kid }, { payload: '', signature: '' }) as Promise<CryptoKey>;
  return found.catch((error: unknown) =>
    error instanceof KeysUnavailable ? error : error instanceof Error ? error.name : 'something else',
  );
}

async function isFound(keys: KeySet, kid: string): Promise<boolean> {
  const key = await find(keys, kid);
  return typeof key === 'object' && 'algorithm' in key;
}

/** Lets a fetch in the background come to its end. */
async function untilAsked(times: number): Promise<void> {
  await expect.poll(() => provider.asked).toBe(times);
}

beforeEach(async () => {
  nowMs = 1_780_000_000_000;
  provider = await startIdentityProvider(await setOf('first'));
});

afterEach(async () => {
  await provider.close();
});

describe('while the provider can not be reached', () => {
  test.each<[string, ProviderAnswer]>([
    ['is down', DOWN],
    ['answers without keys', { status: 200, body: '{"keys":[]}' }],
    [
      'answers with shared keys alone',
      { status: 200, body: '{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"first"}]}' },
    ],
    ['answers with something else', { status: 200, body: '<html>' }],
    ['answers without end', { status: 200, body: `{"keys":["${'x'.repeat(300_000)}"]}` }],
  ])('it %s: the last good set serves for a day, then none', async (_, answer) => {
    const keys = keySetOf();
    expect(await isFound(keys, 'first')).toBe(true);
    expect(keys.status()).toBe('FRESH');
    provider.answer = answer;
    nowMs += 11 * MINUTE_MS;
    expect(await isFound(keys, 'first')).toBe(true);
    await expect.poll(() => keys.status()).toBe('STALE');
    nowMs += DAY_MS - 12 * MINUTE_MS;
    expect(await isFound(keys, 'first')).toBe(true);
    nowMs += MINUTE_MS;
    expect(await find(keys, 'first')).toBeInstanceOf(KeysUnavailable);
    expect(keys.status()).toBe('MISSING');
  });

  test('a key that the set does not have may be a new one: nobody knows', async () => {
    const keys = keySetOf();
    expect(await isFound(keys, 'first')).toBe(true);
    provider.answer = DOWN;
    nowMs += MINUTE_MS;
    expect(await find(keys, 'second')).toBeInstanceOf(KeysUnavailable);
  });

  test('tokens that wait share one fetch, and those after it are answered at once', async () => {
    provider.answer = DOWN;
    const keys = keySetOf();
    const answers = await Promise.all(Array.from({ length: 20 }, () => find(keys, 'first')));
    expect(answers.every((answer) => answer instanceof KeysUnavailable)).toBe(true);
    expect(await find(keys, 'first')).toBeInstanceOf(KeysUnavailable);
    expect(provider.asked).toBe(1);
    nowMs += 5_000;
    provider.answer = await setOf('first');
    expect(await isFound(keys, 'first')).toBe(true);
    expect(provider.asked).toBe(2);
  });

  test('a provider that hangs delays no token for which there is a key', async () => {
    const keys = keySetOf();
    expect(await isFound(keys, 'first')).toBe(true);
    provider.answer = 'HANG';
    nowMs += 11 * MINUTE_MS;
    // It would take the three seconds of the fetch's time-out: the key comes while the fetch still hangs.
    expect(await isFound(keys, 'first')).toBe(true);
    await untilAsked(2);
    expect(await isFound(keys, 'first')).toBe(true);
    expect(provider.asked).toBe(2);
    expect(keys.status()).toBe('FRESH');
  });
});

describe('while the provider answers', () => {
  test('a new key is fetched for the first token that names it', async () => {
    const keys = keySetOf();
    expect(await isFound(keys, 'first')).toBe(true);
    provider.answer = await setOf('first', 'second');
    nowMs += MINUTE_MS;
    expect(await isFound(keys, 'second')).toBe(true);
    expect(provider.asked).toBe(2);
  });

  test('keys that it never had have it asked once in half a minute', async () => {
    const keys = keySetOf();
    expect(await isFound(keys, 'first')).toBe(true);
    for (let token = 0; token < 50; token += 1)
      expect(await find(keys, `made-up-${String(token)}`)).toBe('JWKSNoMatchingKey');
    expect(provider.asked).toBe(1);
    nowMs += 30_000;
    expect(await find(keys, 'made-up')).toBe('JWKSNoMatchingKey');
    expect(provider.asked).toBe(2);
  });

  test('a key that it withdrew is good no longer than the set is fresh', async () => {
    const keys = keySetOf();
    expect(await isFound(keys, 'first')).toBe(true);
    provider.answer = await setOf('second');
    nowMs += 10 * MINUTE_MS;
    await find(keys, 'first');
    await expect.poll(() => isFound(keys, 'second')).toBe(true);
    nowMs += MINUTE_MS;
    expect(await find(keys, 'first')).toBe('JWKSNoMatchingKey');
  });
});
