import type { SharedClock } from '../../src/ledger/kernel/clock.ts';

/** 2030-03-17T17:46:40Z: in the future, so that no engine's TTL deletes what a test has written. */
export const TEST_EPOCH_MS = 1_900_000_000_000;

/** A clock that stands still until a test moves it. */
export interface OwnedClock extends SharedClock {
  readonly advance: (ms: number) => void;
}

export function ownedClock(startMs: number = TEST_EPOCH_MS): OwnedClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    isRight: () => true,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

/** Waits that take no time: what is under test decides how often and how long, and the test sees it. */
export function recordedWaits(): {
  readonly wait: (ms: number) => Promise<void>;
  readonly waitedMs: number[];
} {
  const waitedMs: number[] = [];
  return {
    waitedMs,
    wait: (ms) => {
      waitedMs.push(ms);
      return Promise.resolve();
    },
  };
}
