import { createHmac, timingSafeEqual } from 'node:crypto';

/** Returns why the signature is refused, without any content of header, body or secret; undefined if it is authentic. */
export type SignatureCheck = (
  body: Uint8Array,
  signature: string | undefined,
  nowS: number,
) => string | undefined;

interface SignatureHeader {
  readonly timestamp: string;
  readonly signatures: readonly Buffer[];
}

/**
 * Makes the check of a `Stripe-Signature` header: `t=<epoch seconds>,v1=<HMAC-SHA256 of "t.body" in hex>[,v1=…]`.
 *
 * Our own, since the SDK's has four faults: it decodes the body to text before it hashes (which drops a byte order mark), accepts
 * timestamps in the future, takes a zero tolerance for "any age", and throws errors that contain the body (FIELD-CASES C36,
 * C38). Here the hash is over the raw bytes. The age is judged after any secret has matched, so that a secret that doesn't match
 * never hides a stale timestamp.
 *
 * Throws RangeError, to stop start-up, for no secrets, a blank or padded one, and a tolerance that isn't positive.
 * @param secrets every active secret: two during a rotation, one per endpoint
 * @param toleranceS how far the signature's timestamp may lie in the past or in the future
 */
export function createSignatureCheck(secrets: readonly string[], toleranceS: number): SignatureCheck {
  if (secrets.length === 0) throw new RangeError('no webhook secret is given');
  if (secrets.some((secret) => !/^\S+$/.test(secret)))
    throw new RangeError('a webhook secret is empty or holds blanks');
  if (!Number.isSafeInteger(toleranceS) || toleranceS <= 0)
    throw new RangeError('the webhook tolerance is no positive whole number of seconds');

  return (body, signature, nowS) => {
    if (signature === undefined || signature === '') return 'no signature';
    const header = parseHeader(signature);
    if (header === undefined) return 'unreadable signature';
    if (!secrets.some((secret) => isSignedWith(secret, header, body))) return 'no signature matches';
    const ageS = nowS - Number.parseInt(header.timestamp, 10);
    if (ageS > toleranceS) return 'timestamp too old';
    return ageS < -toleranceS ? 'timestamp in the future' : undefined;
  };
}

/** Exactly one timestamp, so that the one whose age is judged is the one that was signed. Schemes other than v1 are skipped. */
function parseHeader(header: string): SignatureHeader | undefined {
  // Blanks may stand after the commas: HTTP lets whoever forwards a list join it so.
  const parts = header.split(',').map((part) => part.trim());
  const [timestamp, ...others] = parts.filter((part) => part.startsWith('t='));
  if (timestamp === undefined || others.length > 0 || !/^t=\d{1,12}$/.test(timestamp)) return undefined;
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice('v1='.length), 'hex'));
  return signatures.length === 0 ? undefined : { timestamp: timestamp.slice('t='.length), signatures };
}

function isSignedWith(secret: string, { timestamp, signatures }: SignatureHeader, body: Uint8Array): boolean {
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  return signatures.some((signature) => timingSafeEqual(signature, expected));
}
