import { Repeater } from 'graphql-yoga';
import type { Viewer } from '../auth/viewer.ts';
import type { Clock } from '../ledger/kernel/clock.ts';
import { type Timers, runAt } from './timers.ts';

/** What a subscriber gets its events from: it takes them one by one, as fast as it can send. */
export interface Supply<Event> {
  /** The next event, or undefined when there is none yet: then `wake` is called once there may be one. */
  readonly take: () => Event | undefined;
  /** Gives back all that it holds. Called exactly once. */
  readonly close: () => void;
}

export interface SupplyControls {
  /** There may be something to take. */
  readonly wake: () => void;
  /** Ends the subscription: its client has to come again. */
  readonly end: () => void;
}

/** The subscriptions of this process that are being served. */
export interface LiveSources {
  /** Whether the viewer may have one more. */
  readonly hasRoomFor: (viewer: Viewer) => boolean;
  /**
   * A source for one subscriber. It holds nothing before the first `next()`; then `connect` is called, and whatever way it
   * ends, the supply is closed at once. It ends when the viewer's token does, or when there is no room any more.
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
  /** Hears the number of live sources whenever it changes. */
  readonly onCount: (count: number) => void;
}

export function createLiveSources(options: LiveSourcesOptions): LiveSources {
  const perPrincipal = new Map<string, number>();
  let count = 0;

  const hasRoomFor = (viewer: Viewer): boolean =>
    (perPrincipal.get(principalOf(viewer)) ?? 0) < options.maxPerPrincipal;

  function change(viewer: Viewer, by: 1 | -1): void {
    const principal = principalOf(viewer);
    const left = (perPrincipal.get(principal) ?? 0) + by;
    if (left === 0) perPrincipal.delete(principal);
    else perPrincipal.set(principal, left);
    count += by;
    options.onCount(count);
  }

  return {
    hasRoomFor,
    count: () => count,
    open: (viewer, connect) =>
      new Repeater(async (push, stop) => {
        if (hasRoomFor(viewer)) {
          change(viewer, 1);
          try {
            await serve(options, viewer, connect, push, stop);
          } finally {
            change(viewer, -1);
          }
        }
        stop();
        return undefined;
      }),
  };
}

/** Sends what the supply has until the client goes, the supply ends or the viewer's token does. */
async function serve<Event>(
  { clock, timers }: LiveSourcesOptions,
  viewer: Viewer,
  connect: (controls: SupplyControls) => Supply<Event>,
  push: (event: Event) => Promise<unknown>,
  stop: (() => void) & Promise<unknown>,
): Promise<void> {
  const state = { open: true };
  let wake = (): void => undefined;
  const end = (): void => {
    state.open = false;
    wake();
    // It may be waiting for a client that takes nothing: that wait ends too.
    stop();
  };
  // A promise of its own each time: reactions piling up on one that lives as long as the source would be a leak.
  const woken = (): Promise<void> =>
    new Promise((resolve) => {
      if (state.open) wake = resolve;
      else resolve();
    });
  void stop.then(end);
  const cancelExpiry = runAt(viewer.expiresAtMs, clock.nowMs, timers, end);
  let supply: Supply<Event> | undefined;
  try {
    const controls: SupplyControls = {
      end,
      wake: () => {
        wake();
      },
    };
    supply = connect(controls);
    // The clock as well as the timer: what comes in the moment of expiry must not voucher through.
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

/** Who a limit is for: the same subject may stand for different people in different roles. */
export function principalOf({ tenant, role, subject }: Viewer): string {
  return `${tenant}#${role}#${subject}`;
}
