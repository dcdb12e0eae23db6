import { createHash } from 'node:crypto';
import { isDecimal, plainDecimal } from './money.ts';

/**
 * The fingerprint of a request: SHA-256, in hex, of the operation and its canonical validated input. Keys are sorted,
 * absent fields left out, decimals in their shortest form, so that `"10.0"` and `"10.00"` are the same request
 * (docs/DESIGN.md §5.2).
 */
export function fingerprint(operation: string, input: unknown): string {
  return sha256(`${operation}\n${canonical(input)}`);
}

/** SHA-256 in hex, of parts that can't run into each other. */
export function digest(...parts: readonly string[]): string {
  return sha256(JSON.stringify(parts));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function canonical(value: unknown): string {
  if (isDecimal(value)) return `#${plainDecimal(value)}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${fields.join(',')}}`;
}
