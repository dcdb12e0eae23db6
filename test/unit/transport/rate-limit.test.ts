import { describe, expect, it } from 'vitest';
import { createRateLimiter } from '../../../src/transport/rate-limit.ts';
import { ownedClock } from '../../support/owned-time.ts';

const RATE = { perSecond: 2, burst: 3 };

describe('a rate', () => {
  it('lets a burst through, then as many as it fills up again', () => {
    const clock = ownedClock();
    const limiter = createRateLimiter(clock);
    expect([1, 2, 3, 4].map(() => limiter.take('alice', RATE, 1))).toEqual([
      undefined,
      undefined,
      undefined,
      500,
    ]);
    clock.advance(250);
    expect(limiter.take('alice', RATE, 1)).toBe(250);
    clock.advance(250);
    expect(limiter.take('alice', RATE, 1)).toBeUndefined();
    clock.advance(60_000);
    expect([1, 2, 3, 4].map(() => limiter.take('alice', RATE, 1))).toEqual([
      undefined,
      undefined,
      undefined,
      500,
    ]);
  });

  it('takes all that is asked for or nothing', () => {
    const limiter = createRateLimiter(ownedClock());
    expect(limiter.take('alice', RATE, 2)).toBeUndefined();
    expect(limiter.take('alice', RATE, 2)).toBe(500);
    expect(limiter.take('alice', RATE, 1)).toBeUndefined();
  });

  it('is each principal’s own', () => {
    const limiter = createRateLimiter(ownedClock());
    expect(limiter.take('alice', RATE, 3)).toBeUndefined();
    expect(limiter.take('bob', RATE, 3)).toBeUndefined();
  });

  it('does not run backwards with the clock', () => {
    const clock = ownedClock();
    const limiter = createRateLimiter(clock);
    limiter.take('alice', RATE, 3);
    clock.advance(-10_000);
    expect(limiter.take('alice', RATE, 1)).toBe(500);
  });

  it('forgets who has been silent, and refuses strangers while everybody is busy', () => {
    const clock = ownedClock();
    const limiter = createRateLimiter(clock, 2);
    limiter.take('alice', RATE, 3);
    limiter.take('bob', RATE, 1);
    expect(limiter.take('carol', RATE, 1)).toBe(1_000);
    clock.advance(500);
    expect(limiter.take('carol', RATE, 1)).toBeUndefined();
    expect(limiter.take('alice', RATE, 2)).toBe(500);
  });
});
