import { SignJWT } from 'jose';
import type { Role } from '../src/auth/viewer.ts';
import type { AuthConfig } from '../src/config/config.ts';
import { defined } from '../src/ledger/kernel/defined.ts';

export interface TokenRequest {
  readonly subject: string;
  readonly role: Role;
  readonly tenant: string;
  /** Of merchants and terminals. */
  readonly merchantId?: string;
  readonly ttlS: number;
}

/**
 * Signs a token as docs/DESIGN.md §11 has it, with the gateway's own secret and its issuer and audience where set.
 * Throws if the gateway takes its keys from an identity provider: then only that one signs.
 */
export async function signToken(auth: AuthConfig, request: TokenRequest, nowMs: number): Promise<string> {
  if (auth.keys.kind !== 'SECRET')
    throw new Error('The identity provider at AUTH_JWKS_URL makes the tokens.');
  const issuedAtS = Math.floor(nowMs / 1000);
  const { subject, role, tenant, merchantId, ttlS } = request;
  const token = new SignJWT({
    tenant,
    role: role.toLowerCase(),
    ...defined({ merchant_id: merchantId }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(subject)
    .setIssuedAt(issuedAtS)
    .setExpirationTime(issuedAtS + ttlS);
  if (auth.issuer !== undefined) token.setIssuer(auth.issuer);
  if (auth.audience !== undefined) token.setAudience(auth.audience);
  return await token.sign(new TextEncoder().encode(auth.keys.secret));
}

/** One token for each role of the demo tenant. */
export interface DemoTokens {
  readonly customer: string;
  readonly terminal: string;
  readonly merchant: string;
  readonly admin: string;
}

export type DemoRole = 'CUSTOMER' | 'TERMINAL' | 'MERCHANT' | 'ADMIN';
