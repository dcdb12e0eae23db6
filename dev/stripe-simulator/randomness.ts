import { createHash } from 'node:crypto';

const ID_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 24;

function digest(seed: string, label: string): Buffer {
  return createHash('sha256').update(`${seed}\n${label}`).digest();
}

/** The nth object id under a seed, such as `pi_…`: letters and digits as in Stripe's own. */
export function seededId(seed: string, prefix: string, ordinal: number): string {
  const bytes = digest(seed, `id ${String(ordinal)}`);
  let text = '';
  for (const byte of bytes.subarray(0, ID_LENGTH)) text += ID_ALPHABET[byte % ID_ALPHABET.length] ?? '';
  return `${prefix}_${text}`;
}

/**
 * A number in [0, 1) that depends on nothing but seed and label. Chaos asks it per event, so that the same seed
 * gives the same losses and duplicates whatever the timing of deliveries was.
 */
export function seededFraction(seed: string, label: string): number {
  return digest(seed, label).readUIntBE(0, 6) / 2 ** 48;
}
