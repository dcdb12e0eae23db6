/** The one source of time. Everything else takes it as an argument, so that tests own it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number;
}

/** The time of what processes share: leases, due times, cursors. */
export interface SharedClock extends Clock {
  /** False: this process's own clock is wrong, so it takes no lease and nothing that is due. */
  readonly isRight: () => boolean;
}

export const systemClock: SharedClock = { nowMs: () => Date.now(), isRight: () => true };

/** Whole seconds since the epoch: the unit of a DynamoDB TTL and of Stripe's `created`. */
export function epochS(nowMs: number): number {
  return Math.floor(nowMs / 1000);
}

/** An instant as the wire shows it: UTC, ISO 8601 with milliseconds. */
export function isoInstant(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Reads an instant in ISO 8601; undefined if it isn't one. */
export function parseInstantMs(text: string): number | undefined {
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}
