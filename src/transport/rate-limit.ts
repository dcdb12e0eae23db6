import { GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Metrics } from '../observability/metrics.ts';
import { principalOf } from '../auth/viewer.ts';
import type { RequestContext } from '../schema/context.ts';
import { rootFields } from './document-rules.ts';
import { refuseOperations } from './responses.ts';

/** A bucket of tokens that fills again steadily. */
export interface Rate {
  readonly perSecond: number;
  /** How many at once, after a while of silence. */
  readonly burst: number;
}

export interface RateLimiter {
  /**
   * Takes `count` tokens of a key, all or none. Undefined if they're granted, else after how many milliseconds to come again.
   * It is synchronous, so that parallel requests can't all see the same tokens (FIELD-CASES C62).
   */
  readonly take: (key: string, rate: Rate, count: number) => number | undefined;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
  readonly rate: Rate;
}

/** How many buckets are kept. Then full ones are forgotten; if none is full, a key without a bucket is refused: it fails closed. */
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

/** Rates a principal has for each operation, by its kind. */
export interface Rates {
  readonly query: Rate;
  readonly mutation: Rate;
  readonly subscription: Rate;
}

export const DEFAULT_RATES: Rates = {
  query: { perSecond: 100, burst: 500 },
  mutation: { perSecond: 50, burst: 200 },
  subscription: { perSecond: 20, burst: 200 },
};

/** Every root field counts, also under an alias: a principal has a rate for each operation (docs/DESIGN.md §11). */
export function limitRates(
  limiter: RateLimiter,
  rates: Rates,
  metrics: Metrics,
): Plugin<RequestContext, RequestContext> {
  return refuseOperations(({ document, operationName, contextValue }) => {
    const operation = getOperationAST(document, operationName);
    if (operation === null || operation === undefined) return undefined;
    for (const [field, count] of rootFields(document, operation)) {
      const key = `${contextValue.viewer.tenant}/${principalOf(contextValue.viewer)}#${field}`;
      const retryAfterMs = limiter.take(key, rates[operation.operation], count);
      if (retryAfterMs === undefined) continue;
      metrics.count('RateLimited', { operation: field });
      const headers = { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) };
      return new GraphQLError('Too many requests.', {
        extensions: { code: 'RATE_LIMITED', retryAfterMs, http: { status: 429, headers } },
      });
    }
    return undefined;
  });
}
