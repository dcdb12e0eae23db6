import { seededFraction } from '../randomness.ts';

/** How webhooks go wrong. Each probability is from 0 to 1 and applies to each event by itself. */
export interface DeliveryChaos {
  /** Never sent. The event stays in the events API. */
  readonly loss: number;
  /** Sent once more, a little later. */
  readonly duplicate: number;
  /** Sent after up to three events that came later. */
  readonly reorder: number;
  /** Sent late, by up to `maxDelayMs`. */
  readonly delay: number;
  readonly maxDelayMs: number;
}

export const NO_CHAOS: DeliveryChaos = { loss: 0, duplicate: 0, reorder: 0, delay: 0, maxDelayMs: 250 };

/** One sending of an event: how many later ones overtake it, and how late it starts. */
export interface PlannedSending {
  readonly overtakenBy: number;
  readonly delayMs: number;
}

/**
 * How an event is sent under chaos; no sendings if it is lost. Depends on the seed and the event's ordinal alone,
 * so that a run can be repeated whatever its timing.
 */
export function planSendings(chaos: DeliveryChaos, seed: string, ordinal: number): readonly PlannedSending[] {
  const fraction = (what: string) => seededFraction(seed, `${what} ${String(ordinal)}`);
  if (fraction('loss') < chaos.loss) return [];
  const sending = (copy: string, reordered: boolean): PlannedSending => ({
    overtakenBy: reordered ? 1 + Math.floor(fraction(`overtaken ${copy}`) * 3) : 0,
    delayMs:
      fraction(`delay ${copy}`) < chaos.delay
        ? Math.ceil(fraction(`delay length ${copy}`) * chaos.maxDelayMs)
        : 0,
  });
  const first = sending('first', fraction('reorder') < chaos.reorder);
  return fraction('duplicate') < chaos.duplicate ? [first, sending('copy', true)] : [first];
}
