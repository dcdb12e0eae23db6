import type { Clock } from '../../ledger/kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Bus } from '../bus/bus.ts';
import type { Checkpoint, RelayCheckpoints } from './relay-checkpoints.ts';
import { type TableChange, isSystemChange, tellOfChange } from './relay-notices.ts';
import type { ChangeStream, Shard } from './relay-stream.ts';

export interface RelayReaderOptions {
  readonly stream: ChangeStream;
  readonly checkpoints: RelayCheckpoints;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long at least between two checkpoints of a shard: each is a write. */
  readonly checkpointMs: number;
}

/** Reads a stream from where the checkpoints say. One who holds the lease makes a new one. */
export interface RelayReader {
  /** One batch of every shard that may be read. Gives how many changes it told of, its own left out. */
  readonly turn: () => Promise<number>;
  /** Looks for shards that are new, and forgets those that are gone. */
  readonly refresh: () => Promise<void>;
  /** Keeps what a checkpoint had not yet kept. */
  readonly flush: () => Promise<void>;
}

interface Reading extends Shard {
  checkpoint: Checkpoint | undefined;
  iterator: string | undefined;
  /** Told of, but not yet in the table. */
  unsaved: boolean;
  savedAtMs: number;
}

export async function createRelayReader(options: RelayReaderOptions): Promise<RelayReader> {
  const { stream, clock } = options;
  const saved = await options.checkpoints.load();
  let readings = new Map<string, Reading>();

  async function refresh(): Promise<void> {
    const shards = await stream.shards();
    readings = new Map(
      shards.map((shard) => [
        shard.shardId,
        readings.get(shard.shardId) ?? {
          ...shard,
          checkpoint: saved.get(shard.shardId),
          iterator: undefined,
          unsaved: false,
          savedAtMs: clock.nowMs(),
        },
      ]),
    );
  }

  /** A child's changes are younger than its parent's; a parent that is gone was read or is lost. */
  function mayBeRead({ checkpoint, parentId }: Reading): boolean {
    if (checkpoint?.kind === 'DONE') return false;
    const parent = parentId === undefined ? undefined : readings.get(parentId);
    return parent === undefined || parent.checkpoint?.kind === 'DONE';
  }

  await refresh();
  return {
    refresh,
    turn: async () => {
      let reported = 0;
      for (const reading of [...readings.values()].filter(mayBeRead))
        reported += await readShard(options, reading);
      return reported;
    },
    flush: async () => {
      for (const reading of readings.values()) await save(options, reading);
    },
  };
}

async function readShard(options: RelayReaderOptions, reading: Reading): Promise<number> {
  const { stream, clock, logger, checkpointMs } = options;
  reading.iterator ??= await iteratorOf(options, reading);
  if (reading.iterator === undefined) return 0;
  const batch = await stream.read(reading.iterator);
  if (batch.kind !== 'RECORDS') {
    reading.iterator = undefined;
    if (batch.kind === 'EXPIRED') return 0;
    if (batch.kind === 'TRIMMED')
      logger.warn('The relay fell behind what the stream keeps', { shard: reading.shardId });
    reading.checkpoint = undefined;
    return 0;
  }
  const reported = tellOfAll(options, batch.changes);
  const last = batch.changes.at(-1);
  if (last !== undefined) reading.checkpoint = { kind: 'AFTER', sequence: last.sequence };
  // What is only its own checkpoints must not make another one.
  reading.unsaved ||= reported > 0;
  reading.iterator = batch.next;
  if (batch.next === undefined) {
    reading.checkpoint = { kind: 'DONE' };
    reading.unsaved = true;
    await save(options, reading);
  } else if (clock.nowMs() - reading.savedAtMs >= checkpointMs) await save(options, reading);
  return reported;
}

async function iteratorOf(
  { stream, logger }: RelayReaderOptions,
  reading: Reading,
): Promise<string | undefined> {
  const { shardId, checkpoint } = reading;
  if (checkpoint?.kind === 'AFTER') {
    const iterator = await stream.iteratorAt(shardId, checkpoint);
    if (iterator !== undefined) return iterator;
    logger.warn('The relay fell behind what the stream keeps', { shard: shardId });
    reading.checkpoint = undefined;
  }
  return await stream.iteratorAt(shardId, { kind: 'OLDEST' });
}

/** Told first and remembered after: whoever dies in between tells it twice, which harms nobody. */
function tellOfAll({ bus, logger }: RelayReaderOptions, changes: readonly TableChange[]): number {
  const foreign = changes.filter((change) => !isSystemChange(change));
  for (const change of foreign) {
    try {
      tellOfChange(bus, change);
    } catch (error) {
      // One item that can't be read must not stop all the others; its subscribers still read the table.
      logger.error('The relay could not read an item', {}, error);
    }
  }
  return foreign.length;
}

async function save({ checkpoints, clock }: RelayReaderOptions, reading: Reading): Promise<void> {
  if (!reading.unsaved || reading.checkpoint === undefined) return;
  reading.savedAtMs = clock.nowMs();
  await checkpoints.save(reading.shardId, reading.checkpoint, reading.savedAtMs);
  reading.unsaved = false;
}
