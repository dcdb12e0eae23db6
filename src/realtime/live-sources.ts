import { Repeater } from 'graphql-yoga';
import { type Viewer, principalOf } from '../auth/viewer.ts';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type Timers, runAt } from './timers.ts';

/** Where a subscriber's events come from. It takes them one by one, as fast as it can send. */
export interface Supply<Event> {
  /** The next event, or undefined if there is none yet: `wake` is then called once there may be one. */
  readonly take: () => Event | undefined;
  /** Releases all that it holds. Called exactly once. */
  readonly close: () => void;
}

export interface SupplyControls {
  /** There may be something to take. */
  readonly wake: () => void;
  /** Ends the subscription: its client has to subscribe again. */
  readonly end: () => void;
}

/** The subscriptions that this process serves. */
export interface LiveSources {
  readonly hasRoomFor: (viewer: Viewer) => boolean;
  /**
   * A source for one subscriber. It holds nothing before the first `next()`, which calls `connect`. However it ends, it closes
   * the supply at once. It ends with the viewer's token, or at once if the viewer already has too many.
   */
  readonly open: <Event>(
    viewer: Viewer,
    connect: (controls: SupplyControls) => Supply<Event>,
  ) => Repeater<Event, undefined>;
  readonly count: () => number;
}

export interface LiveSourcesOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly maxPerPrincipal: number;
  readonly metrics: Pick<Metrics, 'set'>;
}

export function createLiveSources(options: LiveSourcesOptions): LiveSources {
  const quota = createQuota(options.maxPerPrincipal);
  let count = 0;

  function change(by: 1 | -1): void {
    count += by;
    options.metrics.set('subscriptions', count);
  }

  return {
    hasRoomFor: quota.hasRoomFor,
    count: () => count,
    open: (viewer, connect) =>
      new Repeater(async (push, stop) => {
        const free = quota.take(viewer);
        if (free !== undefined) {
          change(1);
          try {
            await serve(options, viewer, connect, push, stop);
          } finally {
            free();
            change(-1);
          }
        }
        stop();
        return undefined;
      }),
  };
}

/** Sends what the supply has until the client goes, the supply ends or the viewer's token expires. */
async function serve<Event>(
  { clock, timers }: LiveSourcesOptions,
  viewer: Viewer,
  connect: (controls: SupplyControls) => Supply<Event>,
  push: (event: Event) => Promise<unknown>,
  stop: (() => void) & Promise<unknown>,
): Promise<void> {
  const state = { open: true, wake: (): void => undefined };
  const wake = (): void => {
    state.wake();
  };
  const end = (): void => {
    state.open = false;
    wake();
    // The push may be waiting for a client that takes nothing. This ends that wait too.
    stop();
  };
  // A new promise each time: reactions would pile up on one that lives as long as the source.
  const woken = (): Promise<void> =>
    new Promise((resolve) => {
      if (state.open) state.wake = resolve;
      else resolve();
    });
  void stop.then(end);
  const cancelExpiry = runAt(viewer.expiresAtMs, clock.nowMs, timers, end);
  let supply: Supply<Event> | undefined;
  try {
    supply = connect({ wake, end });
    // The timer alone could be late: nothing may be sent after the expiry.
    while (state.open && clock.nowMs() < viewer.expiresAtMs) {
      const event = supply.take();
      if (event === undefined) await woken();
      else await push(event);
    }
  } finally {
    cancelExpiry();
    supply?.close();
  }
}

/** How many things each principal holds, up to a limit. */
export interface Quota {
  readonly hasRoomFor: (viewer: Viewer) => boolean;
  /** Takes one. Returns what gives it back, to be called once; undefined at the limit. */
  readonly take: (viewer: Viewer) => (() => void) | undefined;
}

export function createQuota(maxPerPrincipal: number): Quota {
  const held = new Map<string, number>();
  const heldBy = (principal: string): number => held.get(principal) ?? 0;
  const hasRoomFor = (viewer: Viewer): boolean => heldBy(holderOf(viewer)) < maxPerPrincipal;
  return {
    hasRoomFor,
    take: (viewer) => {
      if (!hasRoomFor(viewer)) return undefined;
      const principal = holderOf(viewer);
      held.set(principal, heldBy(principal) + 1);
      return () => {
        const left = heldBy(principal) - 1;
        if (left === 0) held.delete(principal);
        else held.set(principal, left);
      };
    },
  };
}

/** Whose sources count together: every socket of one principal. */
function holderOf(viewer: Viewer): string {
  return `${viewer.tenant}/${principalOf(viewer)}`;
}
