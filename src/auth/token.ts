import {
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose';
import type { AuthConfig, TokenKeys } from '../config/config.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { isId, isTenantId } from '../ledger/kernel/id-grammar.ts';
import type { Tenants } from '../config/tenants.ts';
import { ROLES, type Viewer } from './viewer.ts';

/** Why a token is refused: for logs and metrics. Clients get UNAUTHENTICATED, and are told whether it has expired. */
export type RefusalReason =
  'MISSING' | 'MALFORMED' | 'NOT_AUTHENTIC' | 'EXPIRED' | 'CLAIMS' | 'UNKNOWN_TENANT' | 'UNKNOWN_MERCHANT';

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
}

/** More than any token of ours needs; larger ones are refused unread. */
const MAX_TOKEN_LENGTH = 8192;

const KEY_FETCH_TIMEOUT_MS = 3000;

/** How far the issuer's clock may be ahead of ours: of when a token begins, never of when it ends. */
const CLOCK_LEEWAY_S = 5;

/** Pinned per kind of key: else a public key could be used as an HS256 secret, or `none` as a signature. */
const ALGORITHMS = { SECRET: ['HS256'], JWKS: ['RS256', 'ES256', 'EdDSA'] } as const satisfies Record<
  TokenKeys['kind'],
  readonly string[]
>;

/** The key set couldn't be fetched or read. It says nothing about the token. */
class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

/** Checks tokens by docs/DESIGN.md §11. Public keys are fetched when the first token comes, then cached. */
export function createTokenVerifier(config: { readonly auth: AuthConfig }, tenants: Tenants): TokenVerifier {
  const { keys, issuer, audience } = config.auth;
  const findKey = keyFinder(keys);
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
        // The leeway is for the beginning alone.
        if (payload.exp !== undefined && payload.exp * 1000 <= nowMs) return refused('EXPIRED');
        return toVerdict(payload, tenants);
      } catch (error) {
        return verdictOnError(error);
      }
    },
  };
}

function keyFinder(keys: TokenKeys): JWTVerifyGetKey {
  if (keys.kind === 'SECRET') {
    const secret = new TextEncoder().encode(keys.secret);
    return () => secret;
  }
  const keySet = createRemoteJWKSet(new URL(keys.url), { timeoutDuration: KEY_FETCH_TIMEOUT_MS });
  return async (header, token) => {
    try {
      return await keySet(header, token);
    } catch (error) {
      if (isAboutTheToken(error)) throw error;
      throw new KeysUnavailable('the key set is out of reach', { cause: error });
    }
  };
}

/** The key set is there; it has no key for this token, or can't tell which. */
function isAboutTheToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

function verdictOnError(error: unknown): TokenVerdict {
  if (error instanceof errors.JWTExpired) return refused('EXPIRED');
  if (error instanceof errors.JWTClaimValidationFailed) return refused('CLAIMS');
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
