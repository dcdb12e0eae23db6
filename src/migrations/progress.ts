/** How far a walk is. */
export interface Progress {
  readonly scanned: number;
  readonly handled: number;
  readonly failed: number;
}

export interface ProgressLine extends Progress {
  /** About how many items the table has; 0: unknown. */
  readonly expectedItems: number;
  readonly elapsedMs: number;
  /** Capacity units consumed so far. */
  readonly units: number;
}

const BAR_WIDTH = 30;

/** One line: a bar, what was done, and about how long it will still take. */
export function progressLine(progress: ProgressLine): string {
  const { scanned, handled, failed, expectedItems, elapsedMs, units } = progress;
  const part = expectedItems === 0 ? 0 : Math.min(1, scanned / expectedItems);
  const filled = Math.floor(part * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const left = failed === 0 ? '' : `, ${failed} left`;
  const percent = `${Math.floor(part * 100)} %`.padStart(5);
  return `${bar} ${percent}  ${scanned} items, ${handled} records${left}, ${Math.ceil(units)} units, ${estimate(part, elapsedMs)}`;
}

function estimate(part: number, elapsedMs: number): string {
  if (part >= 1) return `done in ${duration(elapsedMs)}`;
  return part === 0 ? 'no estimate yet' : `about ${duration((elapsedMs / part) * (1 - part))} to go`;
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
