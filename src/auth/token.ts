import { errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';
import type { AuthConfig, TokenKeys } from '../config/config.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { isId, isTenantId } from '../ledger/kernel/id-grammar.ts';
import type { Tenants } from '../config/tenants.ts';
import { createKeySet, type KeySetOptions, type KeySetStatus } from './key-set.ts';
import { ROLES, type Viewer } from './viewer.ts';

/**
 * Why a token is refused: for logs and metrics. Clients get UNAUTHENTICATED, and are told only what they can act on: that it has
 * expired, or that it isn't valid yet.
 */
export type RefusalReason =
  | 'MISSING'
  | 'MALFORMED'
  | 'NOT_AUTHENTIC'
  | 'EXPIRED'
  | 'NOT_YET'
  | 'CLAIMS'
  | 'UNKNOWN_TENANT'
  | 'UNKNOWN_MERCHANT';

/**
 * What a check of a token gives. UNAVAILABLE: the provider's public keys could not be fetched, so nobody knows. The request fails
 * then, but with an error of ours: after a 401 the client would throw a good token away.
 */
export type TokenVerdict =
  | { readonly kind: 'VIEWER'; readonly viewer: Viewer }
  | { readonly kind: 'REFUSED'; readonly reason: RefusalReason }
  | { readonly kind: 'UNAVAILABLE' };

export interface TokenVerifier {
  /** Takes an Authorization header (`Bearer …`) or the token alone. Never throws. */
  readonly verify: (credentials: string | undefined, nowMs: number) => Promise<TokenVerdict>;
  /** Of an identity provider's keys; undefined where tokens are signed with a secret. */
  readonly keySetStatus: () => KeySetStatus | undefined;
}

/** More than any token of ours needs; larger ones are refused unread. */
const MAX_TOKEN_LENGTH = 8192;

/** How far the issuer's clock may be ahead of ours: of when a token begins, never of when it ends. */
const CLOCK_LEEWAY_S = 5;

/** Pinned per kind of key: else a public key could be used as an HS256 secret, or `none` as a signature. */
const ALGORITHMS = { SECRET: ['HS256'], JWKS: ['RS256', 'ES256', 'EdDSA'] } as const satisfies Record<
  TokenKeys['kind'],
  readonly string[]
>;

/** Checks tokens by docs/DESIGN.md §11. */
export function createTokenVerifier(
  config: { readonly auth: AuthConfig },
  tenants: Tenants,
  process: Pick<KeySetOptions, 'clock' | 'metrics' | 'logger'>,
): TokenVerifier {
  const { keys, issuer, audience, maxLifetimeS } = config.auth;
  const { findKey, status } = keySource(keys, process);
  const rules: JWTVerifyOptions = {
    algorithms: [...ALGORITHMS[keys.kind]],
    clockTolerance: CLOCK_LEEWAY_S,
    ...defined({ issuer, audience }),
  };
  return {
    verify: async (credentials, nowMs) => {
      const token = credentials?.replace(/^bearer(?: +|$)/i, '').trim() ?? '';
      if (token === '') return refused('MISSING');
      if (token.length > MAX_TOKEN_LENGTH) return refused('MALFORMED');
      try {
        const { payload } = await jwtVerify(token, findKey, { ...rules, currentDate: new Date(nowMs) });
        return timeProblem(payload, nowMs, maxLifetimeS) ?? toVerdict(payload, tenants);
      } catch (error) {
        return verdictOnError(error);
      }
    },
    keySetStatus: status,
  };
}

/** What is wrong with an authentic token's times. The leeway is for when it begins, never for when it ends. */
function timeProblem(
  { iat, exp }: JWTPayload,
  nowMs: number,
  maxLifetimeS: number | undefined,
): TokenVerdict | undefined {
  if (exp !== undefined && exp * 1000 <= nowMs) return refused('EXPIRED');
  if (iat !== undefined && (iat - CLOCK_LEEWAY_S) * 1000 > nowMs) return refused('NOT_YET');
  if (maxLifetimeS === undefined) return undefined;
  const tooLong = iat === undefined || exp === undefined || exp - iat > maxLifetimeS;
  return tooLong ? refused('CLAIMS') : undefined;
}

function keySource(
  keys: TokenKeys,
  process: Pick<KeySetOptions, 'clock' | 'metrics' | 'logger'>,
): { readonly findKey: JWTVerifyGetKey; readonly status: () => KeySetStatus | undefined } {
  if (keys.kind === 'JWKS') return createKeySet({ ...process, url: keys.url, servesForMs: keys.servesForMs });
  const secret = new TextEncoder().encode(keys.secret);
  return { findKey: () => secret, status: () => undefined };
}

function verdictOnError(error: unknown): TokenVerdict {
  if (error instanceof errors.JWTExpired) return refused('EXPIRED');
  if (error instanceof errors.JWTClaimValidationFailed)
    return refused(error.claim === 'nbf' && error.reason === 'check_failed' ? 'NOT_YET' : 'CLAIMS');
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) return refused('MALFORMED');
  if (error instanceof errors.JOSEError) return refused('NOT_AUTHENTIC');
  // Not about the token: its keys are out of reach or unusable.
  return { kind: 'UNAVAILABLE' };
}

/** What an authentic token says, as a viewer: every name in it has to be one that may be part of a key. */
function toVerdict(claims: JWTPayload, tenants: Tenants): TokenVerdict {
  const { sub: subject, tenant, role: roleClaim, merchant_id: merchantId } = claims;
  const role = ROLES.find((one) => one.toLowerCase() === roleClaim);
  const expiresAtMs = Math.floor((claims.exp ?? Number.NaN) * 1000);
  if (role === undefined || !Number.isSafeInteger(expiresAtMs)) return refused('CLAIMS');
  if (typeof subject !== 'string' || !isId(subject)) return refused('CLAIMS');
  if (typeof tenant !== 'string' || !isTenantId(tenant)) return refused('CLAIMS');
  const merchants = tenants.get(tenant)?.merchants;
  if (merchants === undefined) return refused('UNKNOWN_TENANT');
  const viewer = { tenant, subject, role, expiresAtMs };
  // In another role's token a merchant's id means nothing. It is left out, so that no later code gives it a meaning.
  if (role === 'CUSTOMER' || role === 'ADMIN') return { kind: 'VIEWER', viewer };
  if (typeof merchantId !== 'string' || !isId(merchantId)) return refused('CLAIMS');
  if (!merchants.has(merchantId)) return refused('UNKNOWN_MERCHANT');
  return { kind: 'VIEWER', viewer: { ...viewer, merchantId } };
}

function refused(reason: RefusalReason): TokenVerdict {
  return { kind: 'REFUSED', reason };
}
