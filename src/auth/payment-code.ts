import { SignJWT, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { isId, isTenantId, isUlid } from '../ledger/kernel/id-grammar.ts';
import type { AccountRef } from '../ledger/kernel/keys.ts';

/** A code lives this long: enough to be shown and scanned at the till. */
export const PAYMENT_CODE_LIFE_MS = 5 * 60_000;

const AUDIENCE = 'hitotsu:payment-code';

/** What a valid code says: whose consent it is, and which code it is, so that it is used once. */
export interface PaymentCodeClaims extends AccountRef {
  readonly codeId: string;
  readonly expiresAtMs: number;
}

/** Makes and reads payment codes: signed, short-lived; single use is the table's part (docs/DESIGN.md §11). */
export interface PaymentCodes {
  readonly issue: (claims: PaymentCodeClaims) => Promise<string>;
  /** Undefined for whatever isn't a live code of ours: forged, altered, expired, of another kind. */
  readonly read: (code: string, nowMs: number) => Promise<PaymentCodeClaims | undefined>;
}

const claimsSchema = z.object({
  sub: z.string().refine(isId),
  tenant: z.string().refine(isTenantId),
  jti: z.string().refine(isUlid),
  exp: z.number().int(),
});

export function createPaymentCodes(secret: string): PaymentCodes {
  const key = new TextEncoder().encode(secret);
  return {
    issue: ({ tenant, accountId, codeId, expiresAtMs }) =>
      new SignJWT({ tenant })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(accountId)
        .setJti(codeId)
        .setAudience(AUDIENCE)
        .setExpirationTime(Math.floor(expiresAtMs / 1000))
        .sign(key),
    read: async (code, nowMs) => {
      try {
        const options = { algorithms: ['HS256'], audience: AUDIENCE, currentDate: new Date(nowMs) };
        const { payload } = await jwtVerify(code, key, options);
        const claims = claimsSchema.safeParse(payload).data;
        if (claims === undefined) return undefined;
        const { sub: accountId, tenant, jti: codeId, exp } = claims;
        return { tenant, accountId, codeId, expiresAtMs: exp * 1000 };
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
