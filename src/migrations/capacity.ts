import type { Clock } from '../ledger/kernel/clock.ts';

/** Keeps what is consumed under a rate: spend first, since only the answer tells how much it was, then wait it off. */
export interface CapacityLimiter {
  readonly spend: (units: number) => void;
  /** Resolves once everything spent so far is paid for. */
  readonly settle: () => Promise<void>;
  readonly spentUnits: () => number;
}

export interface LimiterOptions {
  /** Capacity units a second, reads and writes together. */
  readonly unitsPerS: number;
  readonly clock: Clock;
  readonly wait: (ms: number) => Promise<void>;
}

export function createCapacityLimiter({ unitsPerS, clock, wait }: LimiterOptions): CapacityLimiter {
  let paidUntilMs = clock.nowMs();
  let spent = 0;
  return {
    spend: (units) => {
      spent += units;
      paidUntilMs = Math.max(paidUntilMs, clock.nowMs()) + (units / unitsPerS) * 1_000;
    },
    settle: async () => {
      const aheadMs = paidUntilMs - clock.nowMs();
      if (aheadMs > 0) await wait(aheadMs);
    },
    spentUnits: () => spent,
  };
}
