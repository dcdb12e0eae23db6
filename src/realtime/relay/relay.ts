import type { Ids } from '../../ledger/kernel/ids.ts';
import { type RelayReader, type RelayReaderOptions, createRelayReader } from './relay-reader.ts';

export interface RelayOptions extends RelayReaderOptions {
  readonly ids: Pick<Ids, 'token' | 'fraction'>;
  /** Waits; ends early when the relay is to stop. */
  readonly wait: (ms: number, stopping: AbortSignal) => Promise<void>;
  /** How long a reader that died is waited for. */
  readonly leaseMs: number;
  /** Between two looks at a stream that had nothing new. */
  readonly pollMs: number;
  /** Between two looks for new shards. */
  readonly refreshMs: number;
}

export interface Relay {
  /** Finishes the batch, keeps its checkpoints and gives the lease back. */
  readonly stop: () => Promise<void>;
}

export const RELAY_DEFAULTS = {
  leaseMs: 10_000,
  pollMs: 300,
  refreshMs: 5_000,
  checkpointMs: 1_000,
} as const;

/**
 * Publishes what was committed by processes that died before they could tell (docs/DESIGN.md §9): reads the table's stream and
 * derives transitions and entries from old and new images. Any number may run; one reads, by a lease, and the others wait for
 * it. Whatever is told twice harms nobody.
 */
export function startRelay(options: RelayOptions): Relay {
  const { checkpoints, clock, logger, ids, wait, leaseMs, pollMs } = options;
  const stopping = new AbortController();
  const owner = ids.token();
  let leasedAtMs = Number.NEGATIVE_INFINITY;

  async function holdsLease(): Promise<boolean> {
    const nowMs = clock.nowMs();
    if (nowMs - leasedAtMs < leaseMs / 3) return true;
    if (!(await checkpoints.lease(owner, nowMs, leaseMs))) return false;
    leasedAtMs = nowMs;
    return true;
  }

  /** Until it is stopped or somebody else has the lease. */
  async function readOn(reader: RelayReader): Promise<void> {
    let refreshedAtMs = clock.nowMs();
    while (!stopping.signal.aborted && (await holdsLease())) {
      if (clock.nowMs() - refreshedAtMs >= options.refreshMs) {
        refreshedAtMs = clock.nowMs();
        await reader.refresh();
      }
      const reported = await reader.turn();
      if (reported === 0) await wait(pollMs, stopping.signal);
    }
    await reader.flush();
  }

  /** How long to wait before the next try. */
  async function tryToRead(): Promise<number> {
    try {
      if (await holdsLease()) await readOn(await createRelayReader(options));
      return leaseMs / 2;
    } catch (error) {
      logger.warn('The relay was interrupted and goes on from its checkpoints', {}, error);
      return 2 * pollMs;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waitMs = await tryToRead();
      await wait(waitMs * (0.5 + ids.fraction()), stopping.signal);
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
