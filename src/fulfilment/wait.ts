import { setTimeout as delay } from 'node:timers/promises';

/** Waits, or returns early when the signal aborts. Never rejects. */
export async function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
