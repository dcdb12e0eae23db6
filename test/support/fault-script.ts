import type { Fault } from './faults.ts';
import { seededFractions } from './seeded.ts';

/** The operations of DynamoDB that the gateway sends. */
export type ProxiedOperation = 'TransactWriteItems' | 'BatchGetItem' | 'Query' | 'Scan';

/** Some of the coming requests get a fault, each rule's in the order in which the rules were given. */
export interface FaultRule {
  readonly operation: ProxiedOperation;
  readonly fault: Fault;
  /** How many requests; without it one. */
  readonly times?: number;
}

export interface RandomFaults {
  readonly seed: number;
  /** The share of requests that get a fault, 0 to 1. */
  readonly rate: number;
  readonly faults: readonly Fault[];
}

export interface FaultScript {
  readonly next: (rule: FaultRule) => void;
  readonly randomly: (faults: RandomFaults) => void;
  readonly calm: () => void;
  /** The fault of the request that comes now; undefined: none. */
  readonly take: (operation: string) => Fault | undefined;
}

/** Which request gets which fault: by script first, else by chance that a seed decides. */
export function faultScript(): FaultScript {
  let rules: (FaultRule & { left: number })[] = [];
  let byChance: (() => Fault | undefined) | undefined;
  return {
    next: (rule) => {
      rules.push({ ...rule, left: rule.times ?? 1 });
    },
    randomly: ({ seed, rate, faults }) => {
      const fraction = seededFractions(seed);
      byChance = () => (fraction() < rate ? faults[Math.floor(fraction() * faults.length)] : undefined);
    },
    calm: () => {
      rules = [];
      byChance = undefined;
    },
    take: (operation) => {
      const rule = rules.find((candidate) => candidate.operation === operation && candidate.left > 0);
      if (rule === undefined) return byChance?.();
      rule.left -= 1;
      return rule.fault;
    },
  };
}

export interface HeldRequests {
  /** Resolves when `go` has run, after the release. */
  readonly hold: (go: () => Promise<void>) => Promise<void>;
  readonly release: () => Promise<void>;
  readonly whenHeld: (count: number) => Promise<void>;
}

/** Requests that wait until a test lets them go on. */
export function heldRequests(): HeldRequests {
  let held: (() => Promise<void>)[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  return {
    hold: (go) =>
      new Promise((resolve, reject) => {
        held.push(() => go().then(resolve, reject));
        for (const waiter of waiting.filter(({ count }) => held.length >= count)) waiter.resolve();
        waiting = waiting.filter(({ count }) => held.length < count);
      }),
    release: async () => {
      const released = held;
      held = [];
      await Promise.all(released.map((go) => go()));
    },
    whenHeld: (count) =>
      new Promise((resolve) => {
        if (held.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}
