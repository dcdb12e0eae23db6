import { createHmac } from 'node:crypto';

/** A message in the Standard Webhooks form (standardwebhooks.com). */
export interface WebhookMessage {
  /** The same on every delivery of one message, so that the receiver can drop duplicates. */
  readonly id: string;
  /** The time of this delivery, in seconds since the epoch. The receiver refuses old ones. */
  readonly timestampS: number;
  readonly body: string;
}

const SECRET_PREFIX = 'whsec_';

/**
 * The three headers of a message, with one signature per secret: during a rotation the receiver may check by either. Throws
 * RangeError without a secret: an unsigned message would teach the receiver not to check.
 */
export function signedHeaders(
  { id, timestampS, body }: WebhookMessage,
  secrets: readonly string[],
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  if (secrets.length === 0) throw new RangeError('a message is signed by at least one secret');
  const content = `${id}.${timestampS}.${body}`;
  const signatures = secrets.map((secret) => `v1,${hmac(secret, content)}`);
  const signature = signatures.join(' ');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampS), 'webhook-signature': signature };
}

function hmac(secret: string, content: string): string {
  if (!secret.startsWith(SECRET_PREFIX)) throw new RangeError('a secret begins with whsec_');
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(content, 'utf8').digest('base64');
}
