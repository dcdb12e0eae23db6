export type Cancel = () => void;

/** Timers as an argument, so that tests control time. */
export interface Timers {
  /** Runs once after `delayMs`, unless cancelled. */
  readonly after: (delayMs: number, run: () => void) => Cancel;
}

/** Node's timers fire at once if the delay is longer than this. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Node's own timers. They don't keep the process alive. A delay of more than 24 days is cut to that. */
export const systemTimers: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS));
    timer.unref();
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Runs once the clock has reached `atMs`. A timer may fire a millisecond early, or be cut short: then it waits again. */
export function runAt(atMs: number, nowMs: () => number, timers: Timers, run: () => void): Cancel {
  let cancel: Cancel = () => undefined;
  const arm = (): void => {
    cancel = timers.after(atMs - nowMs(), () => {
      if (nowMs() < atMs) arm();
      else run();
    });
  };
  arm();
  return () => {
    cancel();
  };
}
