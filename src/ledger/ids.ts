import { randomUUID } from 'node:crypto';
import { monotonicFactory } from 'ulid';

/** The one source of randomness: identifiers, tokens and jitter. Everything else takes it as an argument. */
export interface Ids {
  /** A ULID for the given instant; sorts by time, and within one process strictly increases. */
  readonly ulid: (nowMs: number) => string;
  /** An unguessable token: a client request token, a lease's owner. At most 36 characters. */
  readonly token: () => string;
  /** A number in [0, 1), for jitter alone. */
  readonly fraction: () => number;
}

export function randomIds(): Ids {
  const nextUlid = monotonicFactory();
  return { ulid: (nowMs) => nextUlid(nowMs), token: () => randomUUID(), fraction: () => Math.random() };
}

const ID_GRAMMAR = /^[A-Za-z0-9][A-Za-z0-9_.:|-]{0,127}$/;

/**
 * Whether a text may name a tenant, account, merchant, terminal or product (docs/DESIGN.md §3).
 * No `#`, which separates key parts, and no `@`, so that an email can't become an id.
 */
export function isId(text: string): boolean {
  return ID_GRAMMAR.test(text);
}

/** Whether a text may name a tenant: an id that isn't one of the table's own prefixes. */
export function isTenantId(text: string): boolean {
  return isId(text) && text !== 'stripe' && text !== 'system';
}

const ULID_GRAMMAR = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export function isUlid(text: string): boolean {
  return ULID_GRAMMAR.test(text);
}
