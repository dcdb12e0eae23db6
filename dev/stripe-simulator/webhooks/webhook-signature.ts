import { createHmac } from 'node:crypto';

/** The `Stripe-Signature` header of a payload: scheme v1, over time and body. */
export function signatureHeader(payload: string, secret: string, timestampS: number): string {
  const signature = createHmac('sha256', secret)
    .update(`${String(timestampS)}.${payload}`)
    .digest('hex');
  return `t=${String(timestampS)},v1=${signature}`;
}
