import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type CryptoKey, exportJWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterEach, describe, expect, test } from 'vitest';
import { signToken } from '../../../dev/sign-token.ts';
import { createTokenVerifier, type TokenVerifier } from '../../../src/auth/token.ts';
import type { AuthConfig } from '../../../src/config/config.ts';
import { parseTenants } from '../../../src/config/tenants.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { type IdentityProvider, startIdentityProvider } from '../../support/identity-provider.ts';

const NOW_MS = 1_780_000_000_500;
const NOW_S = 1_780_000_000;
const SECRET = 'a-secret-that-only-this-test-file-knows';
const SECRET_AUTH: AuthConfig = { keys: { kind: 'SECRET', secret: SECRET } };

const tenantFile = { name: 'Any', currency: 'JPY', assets: {}, paymentMethods: ['card'], returnUrls: [] };
const tenants = parseTenants(
  {
    demo: { ...tenantFile, merchants: { cafe: { name: 'Café' } } },
    other: { ...tenantFile, merchants: { kiosk: { name: 'Kiosk' } } },
  },
  { production: true },
);

const CUSTOMER: JWTPayload = { sub: 'alice', tenant: 'demo', role: 'customer', exp: NOW_S + 60 };

function bytes(secret: string): Uint8Array {
  return new TextEncoder().encode(secret);
}

async function sign(
  claims: JWTPayload,
  key: Uint8Array | KeyObject | CryptoKey = bytes(SECRET),
  header: { alg: string; kid?: string } = { alg: 'HS256' },
): Promise<string> {
  return await new SignJWT(claims).setProtectedHeader(header).sign(key);
}

function verifierOf(auth: AuthConfig = SECRET_AUTH): TokenVerifier {
  return createTokenVerifier({ auth }, tenants, {
    clock: { nowMs: () => NOW_MS },
    metrics: createMetrics(),
    logger: { warn: () => undefined },
  });
}

function without(claims: JWTPayload, name: string): JWTPayload {
  return Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
}

describe('a good token', () => {
  test('gives its viewer, from a header in any case or alone', async () => {
    const token = await sign(CUSTOMER);
    const verdict = {
      kind: 'VIEWER',
      viewer: { tenant: 'demo', subject: 'alice', role: 'CUSTOMER', expiresAtMs: 1_780_000_060_000 },
    };
    for (const credentials of [`Bearer ${token}`, `bearer  ${token}`, token]) {
      expect(await verifierOf().verify(credentials, NOW_MS)).toStrictEqual(verdict);
    }
  });

  test.each([
    ['customer', { role: 'CUSTOMER' }],
    ['merchant', { role: 'MERCHANT', merchantId: 'cafe' }],
    ['terminal', { role: 'TERMINAL', merchantId: 'cafe' }],
    ['admin', { role: 'ADMIN' }],
  ])('of a %s carries a merchant only where that means something', async (role, expected) => {
    const verdict = await verifierOf().verify(await sign({ ...CUSTOMER, role, merchant_id: 'cafe' }), NOW_MS);
    expect(verdict).toStrictEqual({
      kind: 'VIEWER',
      viewer: { tenant: 'demo', subject: 'alice', expiresAtMs: 1_780_000_060_000, ...expected },
    });
  });

  test('begins as much as five seconds early, for an issuer whose clock is ahead', async () => {
    const verdictOf = async (claims: JWTPayload): Promise<string> =>
      (await verifierOf().verify(await sign({ ...CUSTOMER, ...claims }), NOW_S * 1000)).kind;
    expect([await verdictOf({ nbf: NOW_S + 5 }), await verdictOf({ nbf: NOW_S + 6 })]).toEqual([
      'VIEWER',
      'REFUSED',
    ]);
    expect([await verdictOf({ iat: NOW_S + 5 }), await verdictOf({ iat: NOW_S + 6 })]).toEqual([
      'VIEWER',
      'REFUSED',
    ]);
  });

  test('ends at its expiry, to the millisecond', async () => {
    const token = await sign({ ...CUSTOMER, exp: NOW_S + 5 });
    expect((await verifierOf().verify(token, (NOW_S + 5) * 1000 - 1)).kind).toBe('VIEWER');
    expect(await verifierOf().verify(token, (NOW_S + 5) * 1000)).toStrictEqual({
      kind: 'REFUSED',
      reason: 'EXPIRED',
    });
  });

  test('is what the development command signs', async () => {
    const auth: AuthConfig = { ...SECRET_AUTH, issuer: 'https://issuer.example', audience: 'hitotsu' };
    const token = await signToken(
      auth,
      { subject: 'till-1', role: 'TERMINAL', tenant: 'other', merchantId: 'kiosk', ttlS: 3600 },
      NOW_MS,
    );
    expect(await verifierOf(auth).verify(token, NOW_MS)).toStrictEqual({
      kind: 'VIEWER',
      viewer: {
        tenant: 'other',
        subject: 'till-1',
        role: 'TERMINAL',
        merchantId: 'kiosk',
        expiresAtMs: 1_780_003_600_000,
      },
    });
  });
});

describe('no token', () => {
  test.each([[undefined], [''], ['Bearer'], ['Bearer   '], ['   ']])('%j', async (credentials) => {
    expect(await verifierOf().verify(credentials, NOW_MS)).toStrictEqual({
      kind: 'REFUSED',
      reason: 'MISSING',
    });
  });

  test.each(['Basic YWxpY2U6cHc=', 'Bearer abc', 'a.b.c', 'Bearer a b', `x${'y'.repeat(8192)}`])(
    'something else: %j',
    async (credentials) => {
      expect(await verifierOf().verify(credentials, NOW_MS)).toStrictEqual({
        kind: 'REFUSED',
        reason: 'MALFORMED',
      });
    },
  );
});

describe('claims that make a token worthless', () => {
  test.each<[string, JWTPayload, string]>([
    ['no subject', without(CUSTOMER, 'sub'), 'CLAIMS'],
    ['an email as subject', { ...CUSTOMER, sub: 'alice@x.test' }, 'CLAIMS'],
    ['a key separator in the subject', { ...CUSTOMER, sub: 'demo#alice' }, 'CLAIMS'],
    ['no expiry', without(CUSTOMER, 'exp'), 'CLAIMS'],
    ['an expiry past any date', { ...CUSTOMER, exp: 1e300 }, 'CLAIMS'],
    ['a past expiry', { ...CUSTOMER, exp: NOW_S }, 'EXPIRED'],
    ['a start in the future', { ...CUSTOMER, nbf: NOW_S + 10 }, 'NOT_YET'],
    ['a start that is no time', { ...CUSTOMER, nbf: 'soon' as unknown as number }, 'CLAIMS'],
    ['an issue in the future', { ...CUSTOMER, iat: NOW_S + 10 }, 'NOT_YET'],
    ['no tenant', without(CUSTOMER, 'tenant'), 'CLAIMS'],
    ['a list of tenants', { ...CUSTOMER, tenant: ['demo'] }, 'CLAIMS'],
    ['a prefix of the table as tenant', { ...CUSTOMER, tenant: 'stripe' }, 'CLAIMS'],
    ['a tenant that there isn’t', { ...CUSTOMER, tenant: 'nobody' }, 'UNKNOWN_TENANT'],
    ['a name that every object has as tenant', { ...CUSTOMER, tenant: 'constructor' }, 'UNKNOWN_TENANT'],
    ['no role', without(CUSTOMER, 'role'), 'CLAIMS'],
    ['a role in capitals', { ...CUSTOMER, role: 'ADMIN' }, 'CLAIMS'],
    ['a role that there isn’t', { ...CUSTOMER, role: 'root' }, 'CLAIMS'],
    ['a list of roles', { ...CUSTOMER, role: ['admin'] }, 'CLAIMS'],
    ['a merchant without its id', { ...CUSTOMER, role: 'merchant' }, 'CLAIMS'],
    ['a terminal without a merchant', { ...CUSTOMER, role: 'terminal' }, 'CLAIMS'],
    ['a merchant’s id that is none', { ...CUSTOMER, role: 'merchant', merchant_id: 'a#b' }, 'CLAIMS'],
    [
      'another tenant’s merchant',
      { ...CUSTOMER, role: 'merchant', merchant_id: 'kiosk' },
      'UNKNOWN_MERCHANT',
    ],
  ])('%s', async (_, claims, reason) => {
    expect(await verifierOf().verify(await sign(claims), NOW_MS)).toStrictEqual({ kind: 'REFUSED', reason });
  });

  test('a longer life than is allowed, where one is set', async () => {
    const verifier = verifierOf({ ...SECRET_AUTH, maxLifetimeS: 3600 });
    const kindOf = async (claims: JWTPayload): Promise<string> =>
      (await verifier.verify(await sign({ ...CUSTOMER, ...claims }), NOW_MS)).kind;
    expect(await kindOf({ iat: NOW_S - 3540 })).toBe('VIEWER');
    expect(await kindOf({ iat: NOW_S - 3541 })).toBe('REFUSED');
    expect(await kindOf({})).toBe('REFUSED');
  });

  test('an issuer or audience other than the configured', async () => {
    const verifier = verifierOf({ ...SECRET_AUTH, issuer: 'https://issuer.example', audience: 'hitotsu' });
    const good = { ...CUSTOMER, iss: 'https://issuer.example', aud: ['else', 'hitotsu'] };
    const kindOf = async (claims: JWTPayload): Promise<string> =>
      (await verifier.verify(await sign(claims), NOW_MS)).kind;
    expect(await kindOf(good)).toBe('VIEWER');
    expect(await kindOf({ ...good, iss: 'https://issuer.example/' })).toBe('REFUSED');
    expect(await kindOf({ ...good, aud: 'hitotsu2' })).toBe('REFUSED');
    expect(await kindOf(without(good, 'iss'))).toBe('REFUSED');
    expect(await kindOf(without(good, 'aud'))).toBe('REFUSED');
  });
});

describe('forgeries', () => {
  test('another secret, another length of hash, none at all', async () => {
    const refused = { kind: 'REFUSED', reason: 'NOT_AUTHENTIC' };
    expect(
      await verifierOf().verify(await sign(CUSTOMER, bytes(SECRET.toUpperCase())), NOW_MS),
    ).toStrictEqual(refused);
    expect(
      await verifierOf().verify(await sign(CUSTOMER, bytes(SECRET + SECRET), { alg: 'HS512' }), NOW_MS),
    ).toStrictEqual(refused);
    expect(await verifierOf().verify(new UnsecuredJWT(CUSTOMER).encode(), NOW_MS)).toStrictEqual(refused);
  });

  test('a changed body under an old signature', async () => {
    const [header, , signature] = (await sign(CUSTOMER)).split('.');
    const body = Buffer.from(JSON.stringify({ ...CUSTOMER, role: 'admin' })).toString('base64url');
    expect(await verifierOf().verify([header, body, signature].join('.'), NOW_MS)).toStrictEqual({
      kind: 'REFUSED',
      reason: 'NOT_AUTHENTIC',
    });
  });
});

describe('keys of an identity provider', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const edwards = generateKeyPairSync('ed25519');
  const providers: IdentityProvider[] = [];

  afterEach(async () => {
    for (const started of providers.splice(0)) await started.close();
  });

  async function provider(status: number, body: string): Promise<AuthConfig> {
    const started = await startIdentityProvider({ status, body });
    providers.push(started);
    return { keys: { kind: 'JWKS', url: started.url, servesForMs: 86_400_000 } };
  }

  async function keySet(): Promise<string> {
    const keys = [
      { kid: 'rsa', alg: 'RS256', ...(await exportJWK(rsa.publicKey)) },
      { kid: 'elliptic', alg: 'ES256', ...(await exportJWK(elliptic.publicKey)) },
      { kid: 'edwards', alg: 'EdDSA', ...(await exportJWK(edwards.publicKey)) },
      { kid: 'shared', alg: 'HS256', kty: 'oct', k: Buffer.from(SECRET).toString('base64url') },
    ];
    return JSON.stringify({ keys });
  }

  test('RS256, ES256 and EdDSA are good', async () => {
    const verifier = verifierOf(await provider(200, await keySet()));
    const tokens = [
      await sign(CUSTOMER, rsa.privateKey, { alg: 'RS256', kid: 'rsa' }),
      await sign(CUSTOMER, elliptic.privateKey, { alg: 'ES256', kid: 'elliptic' }),
      await sign(CUSTOMER, edwards.privateKey, { alg: 'EdDSA', kid: 'edwards' }),
    ];
    for (const token of tokens) expect((await verifier.verify(token, NOW_MS)).kind).toBe('VIEWER');
  });

  test('a public key as HS256 secret, a shared key in the set, an unknown key and none are refused', async () => {
    const verifier = verifierOf(await provider(200, await keySet()));
    const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const tokens = [
      await sign(CUSTOMER, bytes(publicPem), { alg: 'HS256', kid: 'rsa' }),
      await sign(CUSTOMER, bytes(SECRET), { alg: 'HS256', kid: 'shared' }),
      await sign(CUSTOMER, stranger.privateKey, { alg: 'RS256', kid: 'rsa' }),
      await sign(CUSTOMER, stranger.privateKey, { alg: 'RS256', kid: 'stranger' }),
      await sign(CUSTOMER, rsa.privateKey, { alg: 'PS256', kid: 'rsa' }),
      new UnsecuredJWT(CUSTOMER).encode(),
    ];
    for (const token of tokens) {
      expect(await verifier.verify(token, NOW_MS)).toStrictEqual({
        kind: 'REFUSED',
        reason: 'NOT_AUTHENTIC',
      });
    }
  });

  test('a token of theirs is refused where a secret is configured', async () => {
    const token = await sign(CUSTOMER, rsa.privateKey, { alg: 'RS256', kid: 'rsa' });
    expect(await verifierOf().verify(token, NOW_MS)).toStrictEqual({
      kind: 'REFUSED',
      reason: 'NOT_AUTHENTIC',
    });
  });

  test.each([
    [500, '{"keys":[]}'],
    [200, '<html>'],
    [200, '{"error":"none"}'],
  ])('an answer that holds no keys is an outage, not a refusal: %i %s', async (status, body) => {
    const token = await sign(CUSTOMER, rsa.privateKey, { alg: 'RS256', kid: 'rsa' });
    const verifier = verifierOf(await provider(status, body));
    expect(await verifier.verify(token, NOW_MS)).toStrictEqual({ kind: 'UNAVAILABLE' });
  });

  test('a provider that is gone is an outage, and no word on what is no token', async () => {
    const auth = await provider(200, await keySet());
    for (const gone of providers.splice(0)) await gone.close();
    const verifier = verifierOf(auth);
    const token = await sign(CUSTOMER, rsa.privateKey, { alg: 'RS256', kid: 'rsa' });
    expect(await verifier.verify(token, NOW_MS)).toStrictEqual({ kind: 'UNAVAILABLE' });
    expect(await verifier.verify('nonsense', NOW_MS)).toStrictEqual({ kind: 'REFUSED', reason: 'MALFORMED' });
  });
});
