import { type Clock, type SharedClock, systemClock } from '../kernel/clock.ts';

/**
 * The table's time, as far as this process knows it: its own clock, corrected by the Date headers of the table's answers.
 * Leases, due times and cursors are shared by processes whose clocks differ; the table's time is one for all of them.
 */
export interface TableClock extends SharedClock {
  /** How far this process's own clock is ahead of the table's; negative: behind. 0 until the table has answered. */
  readonly skewMs: () => number;
  /** Begins to time a request; what it returns is told the Date header of the answer. */
  readonly timeRequest: () => (date: string | undefined) => void;
}

/** Beyond this the process's clock is wrong, not merely imprecise: time services keep clocks within milliseconds. */
export const MAX_SKEW_MS = 10_000;

/** A Date header has whole seconds. */
const HEADER_MS = 1_000;

/**
 * The table said its time between the request and the answer, so an answer bounds the skew on both sides, however long the
 * process was stopped in between. A skew within the bounds stays, so a right clock is never corrected.
 * @param onMeasured called after each answer that had a Date
 */
export function createTableClock(
  own: Clock = systemClock,
  onMeasured: (skewMs: number) => void = () => undefined,
): TableClock {
  let skewMs = 0;
  let answered = false;

  function measure(sentMs: number, date: string | undefined): void {
    answered = true;
    const tableMs = date === undefined ? Number.NaN : Date.parse(date);
    if (Number.isNaN(tableMs)) return;
    const most = own.nowMs() - tableMs;
    const least = sentMs - (tableMs + HEADER_MS);
    skewMs = Math.min(Math.max(skewMs, least), most);
    onMeasured(skewMs);
  }

  return {
    nowMs: () => own.nowMs() - skewMs,
    isRight: () => answered && Math.abs(skewMs) <= MAX_SKEW_MS,
    skewMs: () => skewMs,
    timeRequest: () => {
      const sentMs = own.nowMs();
      return (date) => {
        measure(sentMs, date);
      };
    },
  };
}
