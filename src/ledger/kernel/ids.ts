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
