import type { SharedClock } from '../../ledger/kernel/clock.ts';
import { readEntry } from '../../ledger/model/entries/entry.ts';
import { PREFIX } from '../../ledger/kernel/keys.ts';
import { newTransitions } from '../../ledger/model/orders/order-changes.ts';
import { readOrder } from '../../ledger/items/order-item.ts';
import type { Logger } from '../../observability/logger.ts';
import { type Bus, publishEntry, publishTransition } from '../bus/bus.ts';
import type { ShardCheckpoint, RelayCheckpoints } from './relay-checkpoints.ts';
import type { ChangeStream, Shard, TableChange } from './relay-stream.ts';

export interface RelayReaderOptions {
  readonly stream: ChangeStream;
  readonly checkpoints: RelayCheckpoints;
  readonly bus: Bus;
  readonly clock: SharedClock;
  readonly logger: Logger;
  /** The shortest time between two checkpoints of a shard: each is a write. */
  readonly checkpointMs: number;
}

/** Reads a stream from its checkpoints. Whoever gets the lease makes a new one. */
export interface RelayReader {
  /** Reads one batch of every readable shard. Resolves to how many changes it published, the relay's own left out. */
  readonly turn: () => Promise<number>;
  /** Looks for shards that are new, and forgets those that are gone. */
  readonly refresh: () => Promise<void>;
  /** Saves all unsaved checkpoints. */
  readonly flush: () => Promise<void>;
}

interface ShardProgress extends Shard {
  checkpoint: ShardCheckpoint | undefined;
  iterator: string | undefined;
  unsaved: boolean;
  savedAtMs: number;
}

export async function createRelayReader(options: RelayReaderOptions): Promise<RelayReader> {
  const { stream, clock } = options;
  const saved = await options.checkpoints.load();
  let shards = new Map<string, ShardProgress>();

  async function refresh(): Promise<void> {
    const fresh = { iterator: undefined, unsaved: false, savedAtMs: clock.nowMs() };
    shards = new Map(
      (await stream.shards()).map((shard) => [
        shard.shardId,
        shards.get(shard.shardId) ?? { ...shard, ...fresh, checkpoint: saved.get(shard.shardId) },
      ]),
    );
  }

  /** A child's changes are younger than its parent's. A parent that is gone was read, or its changes are lost. */
  function isReadable({ checkpoint, parentId }: ShardProgress): boolean {
    if (checkpoint?.kind === 'DONE') return false;
    const parent = parentId === undefined ? undefined : shards.get(parentId);
    return parent === undefined || parent.checkpoint?.kind === 'DONE';
  }

  await refresh();
  return {
    refresh,
    turn: async () => {
      let published = 0;
      for (const shard of [...shards.values()].filter(isReadable))
        published += await readShard(options, shard);
      return published;
    },
    flush: async () => {
      for (const shard of shards.values()) await save(options, shard);
    },
  };
}

async function readShard(options: RelayReaderOptions, shard: ShardProgress): Promise<number> {
  shard.iterator ??= await iteratorOf(options, shard);
  if (shard.iterator === undefined) return 0;
  const batch = await options.stream.read(shard.iterator);
  if (batch.kind !== 'RECORDS') {
    shard.iterator = undefined;
    if (batch.kind === 'TRIMMED') warnOfLoss(options, shard);
    if (batch.kind !== 'EXPIRED') shard.checkpoint = undefined;
    return 0;
  }
  // Published first, saved after: a relay that dies in between publishes it twice, which does no harm.
  const published = publishAll(options, batch.changes);
  const last = batch.changes.at(-1);
  if (last !== undefined) shard.checkpoint = { kind: 'AFTER', sequence: last.sequence };
  // Our own checkpoints are changes too; they must not cause another one.
  shard.unsaved ||= published > 0;
  shard.iterator = batch.next;
  if (batch.next === undefined) {
    shard.checkpoint = { kind: 'DONE' };
    shard.unsaved = true;
    await save(options, shard);
  } else if (options.clock.nowMs() - shard.savedAtMs >= options.checkpointMs) await save(options, shard);
  return published;
}

async function iteratorOf(options: RelayReaderOptions, shard: ShardProgress): Promise<string | undefined> {
  const { shardId, checkpoint } = shard;
  if (checkpoint?.kind === 'AFTER') {
    const iterator = await options.stream.iteratorAt(shardId, checkpoint.sequence);
    if (iterator !== undefined) return iterator;
    warnOfLoss(options, shard);
    shard.checkpoint = undefined;
  }
  return await options.stream.iteratorAt(shardId, undefined);
}

function warnOfLoss({ logger }: RelayReaderOptions, { shardId }: Shard): void {
  logger.warn('The relay fell behind what the stream keeps', { shard: shardId });
}

async function save({ checkpoints, clock }: RelayReaderOptions, shard: ShardProgress): Promise<void> {
  if (!shard.unsaved || shard.checkpoint === undefined) return;
  shard.savedAtMs = clock.nowMs();
  await checkpoints.save(shard.shardId, shard.checkpoint, shard.savedAtMs);
  shard.unsaved = false;
}

function publishAll({ bus, logger }: RelayReaderOptions, changes: readonly TableChange[]): number {
  const foreign = changes.filter((change) => !isSystemChange(change));
  for (const change of foreign) {
    try {
      publishChange(bus, change);
    } catch (error) {
      // One unreadable item must not stop all others. Its subscribers still read the table.
      logger.error('The relay could not read an item', {}, error);
    }
  }
  return foreign.length;
}

/** A change of the relay's own records or of migrations, which no subscriber gets. */
function isSystemChange({ before, after }: TableChange): boolean {
  return (after ?? before)?.['uuid']?.S?.startsWith('system#') ?? true;
}

/** Publishes the transitions and entries that a change made. Throws MalformedItemError for an item that it can't read. */
function publishChange(bus: Bus, { before, after }: TableChange): void {
  const type = after?.['type']?.S;
  if (after === undefined || type === undefined) return;
  if (type.startsWith(PREFIX.order)) {
    const order = readOrder(after);
    const earlier = before === undefined ? undefined : readOrder(before);
    for (const transition of newTransitions(earlier, order)) publishTransition(bus, order, transition);
  }
  if (type.startsWith(PREFIX.entry) && before === undefined) publishEntry(bus, readEntry(after));
}
