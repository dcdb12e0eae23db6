import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../../src/ledger/kernel/attributes.ts';
import { orderAttributes } from '../../../../src/ledger/items/order-item.ts';
import type { Order } from '../../../../src/ledger/model/orders/order.ts';
import { createInProcessBus } from '../../../../src/realtime/bus/bus.ts';
import type { ShardCheckpoint, RelayCheckpoints } from '../../../../src/realtime/relay/relay-checkpoints.ts';
import { createRelayReader } from '../../../../src/realtime/relay/relay-reader.ts';
import type { ChangeStream, Shard, TableChange } from '../../../../src/realtime/relay/relay-stream.ts';
import { ownedClock } from '../../../support/owned-time.ts';
import { orderWith } from '../support.ts';

const POLICY = { sweepAfterMs: 60_000 };
const item = (order: Order) => toAttributes(orderAttributes(order, POLICY));

/** The change that takes the order to a version. */
function change(version: number): TableChange {
  const before = version === 1 ? undefined : item(orderWith(version - 1));
  return { before, after: item(orderWith(version)), sequence: String(version).padStart(21, '0') };
}

interface FakeShard extends Shard {
  readonly changes: TableChange[];
  closed: boolean;
}

/** A stream in memory; an iterator is `shard:index`. */
function fakeStream(shards: FakeShard[]): ChangeStream {
  const find = (shardId: string): FakeShard | undefined => shards.find((shard) => shard.shardId === shardId);
  return {
    shards: () => Promise.resolve(shards.map(({ shardId, parentId }) => ({ shardId, parentId }))),
    iteratorAt: (shardId, after) => {
      const changes = find(shardId)?.changes ?? [];
      if (after === undefined) return Promise.resolve(`${shardId}:0`);
      const index = changes.findIndex(({ sequence }) => sequence === after);
      return Promise.resolve(index === -1 ? undefined : `${shardId}:${index + 1}`);
    },
    read: (iterator) => {
      const [shardId = '', start = '0'] = iterator.split(':');
      const shard = find(shardId);
      if (shard === undefined) return Promise.resolve({ kind: 'GONE' });
      const from = Number.parseInt(start, 10);
      const changes = shard.changes.slice(from, from + 2);
      const next = from + changes.length;
      const ended = shard.closed && next === shard.changes.length;
      return Promise.resolve({ kind: 'RECORDS', changes, next: ended ? undefined : `${shardId}:${next}` });
    },
  };
}

function setUp(shards: FakeShard[]) {
  const saved = new Map<string, ShardCheckpoint>();
  const reported: number[] = [];
  const checkpoints: RelayCheckpoints = {
    lease: () => Promise.resolve(true),
    release: () => Promise.resolve(),
    load: () => Promise.resolve(new Map(saved)),
    save: (shardId, checkpoint) => {
      saved.set(shardId, checkpoint);
      return Promise.resolve();
    },
  };
  const bus = {
    ...createInProcessBus(),
    publish: (
      topic: string,
      notice: { readonly kind: string; readonly transition?: { readonly version: number } },
    ) => {
      if (topic.includes('#order#') && notice.transition !== undefined)
        reported.push(notice.transition.version);
    },
  };
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const logger = { debug: log, info: log, warn: log, error: log, with: () => logger };
  const clock = ownedClock();
  const start = () =>
    createRelayReader({ stream: fakeStream(shards), checkpoints, bus, clock, logger, checkpointMs: 0 });
  return { saved, reported, logged, start };
}

const shard = (
  shardId: string,
  parentId: string | undefined,
  versions: readonly number[],
  closed: boolean,
): FakeShard => ({
  shardId,
  parentId,
  changes: versions.map(change),
  closed,
});

describe('the shards of a stream', () => {
  it('are read parents first, through splits, to the end of closed ones, and never again', async () => {
    const shards = [
      shard('b', 'a', [4, 5], true),
      shard('c', 'a', [6], true),
      shard('a', 'long-gone', [1, 2, 3], true),
      shard('d', 'b', [7, 8], false),
    ];
    const { reported, saved, start } = setUp(shards);
    const reader = await start();
    while ((await reader.turn()) > 0);
    expect(reported.slice(0, 3)).toEqual([1, 2, 3]);
    expect([...reported].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(reported.indexOf(7)).toBeGreaterThan(reported.indexOf(5));
    expect(Object.fromEntries(saved)).toMatchObject({
      a: { kind: 'DONE' },
      b: { kind: 'DONE' },
      c: { kind: 'DONE' },
      d: { kind: 'AFTER' },
    });
    const again = await start();
    while ((await again.turn()) > 0);
    expect(reported.length).toBe(8);
  });

  it('that appear later are found', async () => {
    const shards = [shard('a', undefined, [1], false)];
    const { reported, start } = setUp(shards);
    const reader = await start();
    await reader.turn();
    const [first] = shards;
    if (first !== undefined) first.closed = true;
    shards.push(shard('b', 'a', [2], false));
    await reader.refresh();
    for (let turn = 0; turn < 3; turn += 1) await reader.turn();
    expect(reported).toEqual([1, 2]);
  });

  it('are read from the oldest record where the checkpoint is no longer kept', async () => {
    const shards = [shard('a', undefined, [2, 3], false)];
    const { reported, saved, logged, start } = setUp(shards);
    saved.set('a', { kind: 'AFTER', sequence: 'trimmed' });
    const reader = await start();
    while ((await reader.turn()) > 0);
    expect(reported).toEqual([2, 3]);
    expect(logged).toEqual(['The relay fell behind what the stream keeps']);
  });

  it('are read on past an item that cannot be read', async () => {
    const shards = [shard('a', undefined, [1, 2], false)];
    shards[0]?.changes.splice(1, 0, {
      before: undefined,
      after: { uuid: { S: 't_1#u_1' }, type: { S: 'ORDER#01HZXW5J8Q0000000000000009' } },
      sequence: '000000000000000000010',
    });
    const { reported, logged, start } = setUp(shards);
    const reader = await start();
    while ((await reader.turn()) > 0);
    expect(reported).toEqual([1, 2]);
    expect(logged).toEqual(['The relay could not read an item']);
  });
});
