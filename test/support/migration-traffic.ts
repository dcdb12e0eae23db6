import { setTimeout as delay } from 'node:timers/promises';
import type { Channel } from './migration-channel.ts';
import { type Actor, type Charged, type ModelAccount, pick } from './migration-customers.ts';
import { seededFractions } from './seeded.ts';

export interface TrafficOptions {
  /** Each request goes to any of them: gateways that may be a phase apart. Read anew for every request. */
  readonly channels: () => readonly Channel[];
  readonly accounts: readonly ModelAccount[];
  readonly seed: number;
  /** How long a customer takes from one request to the next. */
  readonly paceMs?: number;
}

/** Customers, terminals and merchants at work. Of one account one request at a time, so that a model can follow. */
export interface Traffic {
  readonly served: () => number;
  /** Requests that failed, or answered what the model rules out. */
  readonly failures: readonly string[];
  /** Charges that were acknowledged. */
  readonly charged: readonly Charged[];
  /** Resolves once so many more requests were served, or any failed. */
  readonly whenServed: (more: number) => Promise<void>;
  /** Does something while no request is on its way, so that what is read is of one moment. */
  readonly atRest: <Value>(work: () => Promise<Value>) => Promise<Value>;
  readonly stop: () => Promise<void>;
}

const PACE_MS = 10;

export function startTraffic({ channels, accounts, seed, paceMs = PACE_MS }: TrafficOptions): Traffic {
  const failures: string[] = [];
  const charged: Charged[] = [];
  const waiters: { readonly at: number; readonly resolve: () => void }[] = [];
  let served = 0;
  let stopped = false;
  let onItsWay = 0;
  let rest: Promise<void> | undefined;
  let becameQuiet: (() => void) | undefined;
  const answered = (): void => {
    served += 1;
    onItsWay -= 1;
    if (onItsWay === 0) becameQuiet?.();
    for (const waiter of waiters.filter(({ at }) => served >= at || failures.length > 0)) {
      waiters.splice(waiters.indexOf(waiter), 1);
      waiter.resolve();
    }
  };
  const live = async (account: ModelAccount, index: number): Promise<void> => {
    const fraction = seededFractions(seed * 1_000 + index);
    const actor: Actor = {
      account,
      fraction,
      paid: [],
      charged,
      channels: () => from(channels(), fraction()),
    };
    while (!stopped) {
      await rest;
      onItsWay += 1;
      const deed = pick(fraction);
      try {
        const problem = await deed(actor);
        if (problem !== undefined) failures.push(`${account.accountId}: ${problem}`);
      } catch (error) {
        failures.push(
          `${account.accountId}: ${deed.name} threw ${error instanceof Error ? String(error.stack) : 'something'}`,
        );
      }
      answered();
      // A pace, not a wait: customers take their time, and what else runs gets its turn.
      await delay(paceMs);
    }
  };
  const running = accounts.map(live);
  return {
    served: () => served,
    failures,
    charged,
    whenServed: (more) =>
      new Promise((resolve) => {
        waiters.push({ at: served + more, resolve });
      }),
    atRest: async (work) => {
      let resume: () => void = () => undefined;
      rest = new Promise((resolve) => {
        resume = resolve;
      });
      if (onItsWay > 0) {
        await new Promise<void>((resolve) => {
          becameQuiet = resolve;
        });
      }
      try {
        return await work();
      } finally {
        rest = undefined;
        resume();
      }
    },
    stop: async () => {
      stopped = true;
      await Promise.all(running);
    },
  };
}

/** All of them, beginning with the one that a fraction of 1 points to. */
function from(channels: readonly Channel[], fraction: number): readonly Channel[] {
  const first = Math.floor(fraction * channels.length);
  return [...channels.slice(first), ...channels.slice(0, first)];
}
