import type { Clock } from '../ledger/kernel/clock.ts';

/** A bucket of tokens that fills again steadily. */
export interface Rate {
  readonly perSecond: number;
  /** How many at once, after a while of silence. */
  readonly burst: number;
}

export interface RateLimiter {
  /**
   * Takes `count` tokens of a key, all or none. Says after how many milliseconds to come again, or undefined if they're
   * granted. At once and synchronous: parallel requests can't all see the bucket full (FIELD-CASES C62).
   */
  readonly take: (key: string, rate: Rate, count: number) => number | undefined;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
  readonly rate: Rate;
}

/** How many buckets are kept; beyond that full ones are forgotten, and if none is full, strangers are refused: it fails closed. */
const MAX_BUCKETS = 50_000;

const RETRY_WHEN_CROWDED_MS = 1_000;

/** Rates of this process alone: a fleet of n lets n times as much through. */
export function createRateLimiter(clock: Clock, maxBuckets = MAX_BUCKETS): RateLimiter {
  const buckets = new Map<string, Bucket>();

  function bucketOf(key: string, rate: Rate, nowMs: number): Bucket | undefined {
    const known = buckets.get(key);
    if (known !== undefined) {
      refill(known, nowMs);
      return known;
    }
    if (buckets.size >= maxBuckets) forgetFull(buckets, nowMs);
    if (buckets.size >= maxBuckets) return undefined;
    const fresh = { tokens: rate.burst, filledAtMs: nowMs, rate };
    buckets.set(key, fresh);
    return fresh;
  }

  return {
    take: (key, rate, count) => {
      const bucket = bucketOf(key, rate, clock.nowMs());
      if (bucket === undefined) return RETRY_WHEN_CROWDED_MS;
      if (bucket.tokens >= count) {
        bucket.tokens -= count;
        return undefined;
      }
      return Math.ceil(((Math.min(count, rate.burst) - bucket.tokens) / rate.perSecond) * 1_000);
    },
  };
}

function refill(bucket: Bucket, nowMs: number): void {
  const { perSecond, burst } = bucket.rate;
  const elapsedS = Math.max(nowMs - bucket.filledAtMs, 0) / 1_000;
  bucket.tokens = Math.min(bucket.tokens + elapsedS * perSecond, burst);
  bucket.filledAtMs = nowMs;
}

function forgetFull(buckets: Map<string, Bucket>, nowMs: number): void {
  for (const [key, bucket] of buckets) {
    refill(bucket, nowMs);
    if (bucket.tokens >= bucket.rate.burst) buckets.delete(key);
  }
}
