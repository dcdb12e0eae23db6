import type { Ids } from '../../ledger/kernel/ids.ts';
import { type RelayReader, type RelayReaderOptions, createRelayReader } from './relay-reader.ts';

export interface RelayOptions extends RelayReaderOptions {
  readonly ids: Pick<Ids, 'token' | 'fraction'>;
  /** Waits, or returns early when the signal aborts. */
  readonly wait: (ms: number, stopping: AbortSignal) => Promise<void>;
  /** After this time without a sign, another relay takes over. */
  readonly leaseMs: number;
  /** The pause when the stream has nothing new. */
  readonly pollMs: number;
  /** How often to look for new shards. */
  readonly refreshMs: number;
}

export interface Relay {
  /** Finishes the batch, saves its checkpoints and gives the lease back. */
  readonly stop: () => Promise<void>;
}

export const RELAY_DEFAULTS = {
  leaseMs: 10_000,
  pollMs: 300,
  refreshMs: 5_000,
  checkpointMs: 1_000,
} as const;

/**
 * Publishes what processes committed but, being killed, could not publish (docs/DESIGN.md §9). It reads the table's stream and
 * derives transitions and entries from old and new images. Any number may run: the one with the lease reads, the others wait.
 * Publishing something twice does no harm.
 */
export function startRelay(options: RelayOptions): Relay {
  const { checkpoints, clock, logger, ids, wait, leaseMs, pollMs } = options;
  const stopping = new AbortController();
  const owner = ids.token();
  let leasedAtMs = Number.NEGATIVE_INFINITY;

  async function holdsLease(): Promise<boolean> {
    const sinceMs = clock.nowMs() - leasedAtMs;
    // Less than nothing: the clock was set back, and when the lease was taken isn't known.
    if (sinceMs >= 0 && sinceMs < leaseMs / 3) return true;
    const held = await checkpoints.lease(owner, clock, leaseMs);
    if (held) leasedAtMs = clock.nowMs();
    return held;
  }

  /** Reads until the relay is stopped or somebody else has the lease. */
  async function readOn(reader: RelayReader): Promise<void> {
    let refreshedAtMs = clock.nowMs();
    while (!stopping.signal.aborted && (await holdsLease())) {
      if (clock.nowMs() - refreshedAtMs >= options.refreshMs) {
        refreshedAtMs = clock.nowMs();
        await reader.refresh();
      }
      if ((await reader.turn()) === 0) await wait(pollMs, stopping.signal);
    }
    await reader.flush();
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pauseMs = leaseMs / 2;
      try {
        if (await holdsLease()) await readOn(await createRelayReader(options));
      } catch (error) {
        logger.warn('The relay was interrupted and goes on from its checkpoints', {}, error);
        pauseMs = 2 * pollMs;
      }
      await wait(pauseMs * (0.5 + ids.fraction()), stopping.signal);
    }
    await checkpoints.release(owner, clock.nowMs()).catch((error: unknown) => {
      logger.warn('The relay could not give its lease back; it ends by itself', {}, error);
    });
  }

  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
