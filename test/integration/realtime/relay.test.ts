import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../dev/engine/engine.ts';
import { systemKey } from '../../../src/ledger/kernel/keys.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { type Heard, createInProcessBus } from '../../../src/realtime/bus/bus.ts';
import { createRelayCheckpoints } from '../../../src/realtime/relay/relay-checkpoints.ts';
import { type RelayReader, createRelayReader } from '../../../src/realtime/relay/relay-reader.ts';
import {
  type ChangeStream,
  createChangeStream,
  createStreamsClient,
} from '../../../src/realtime/relay/relay-stream.ts';
import { startRelay } from '../../../src/realtime/relay/relay.ts';
import { startEngine } from '../../support/engine.ts';
import { type Harness, customer, makeHarness } from '../../support/harness.ts';
import { silentLogger } from './support.ts';

// An engine of its own: streams make one slower for everybody.
let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
}, 90_000);
afterAll(async () => {
  await engine.stop();
});

/** A bus on which this process's own publishes are lost, as if it were killed after each commit. */
interface Relayed {
  readonly harness: Harness;
  readonly stream: ChangeStream;
  readonly reported: readonly string[];
  readonly reader: () => Promise<RelayReader>;
  readonly readAll: (reader: RelayReader) => Promise<void>;
  readonly options: Parameters<typeof createRelayReader>[0];
}

async function relayed(): Promise<Relayed> {
  const killed = { ...createInProcessBus(), publish: () => undefined };
  const harness = await makeHarness({ endpoint: engine.endpoint, streams: true, overrides: { bus: killed } });
  const { client: table, tableName, clock } = harness;
  const streams = createStreamsClient({ region: 'local', endpoint: engine.endpoint });
  const stream = createChangeStream({ table, streams, tableName });
  const reported: string[] = [];
  const bus = {
    ...createInProcessBus(),
    publish: (topic: string, heard: Heard) => {
      reported.push(
        `${topic.split('#')[1] ?? ''} ${heard.kind === 'transition' ? `${heard.transition.version} ${heard.transition.to}` : heard.kind}`,
      );
    },
  };
  const checkpoints = createRelayCheckpoints(table, tableName);
  const options = { stream, checkpoints, bus, clock, logger: silentLogger(), checkpointMs: 0 };
  return {
    harness,
    stream,
    reported,
    options,
    reader: () => createRelayReader(options),
    readAll: async (reader) => {
      await expect.poll(() => reader.turn(), { timeout: 10_000, interval: 20 }).toBe(0);
      // An engine may need a moment to show what was just committed.
      await reader.refresh();
      while ((await reader.turn()) > 0);
    },
  };
}

async function pay({ ledger, openOrder, fund, key }: Harness): Promise<string> {
  await fund('t_1', 'u_1', '10.00');
  const { id, orderId } = await openOrder('t_1', 'u_1', '10.00');
  const outcome = await charge(ledger, customer('u_1'), key(), { orderId: id, asset: 'ECOPAY' });
  expect(outcome.kind).toBe('ChargeSuccess');
  return orderId;
}

const PAYMENT = [
  'wallet entry',
  'order 1 CREATED',
  'merchant 1 CREATED',
  'order 2 PAID',
  'merchant 2 PAID',
  'wallet entry',
];

describe('the relay', () => {
  it('tells of the transitions and entries that a killed process had committed, once each', async () => {
    const { harness, reported, reader, readAll } = await relayed();
    await pay(harness);
    await readAll(await reader());
    expect([...reported].sort()).toEqual([...PAYMENT].sort());
    harness.close();
  });

  it('goes on from its checkpoint when it is started again, and does not follow its own writes', async () => {
    const { harness, reported, reader, readAll } = await relayed();
    await pay(harness);
    const first = await reader();
    await readAll(first);
    await first.flush();
    const before = reported.length;
    await pay(harness);
    const second = await reader();
    await readAll(second);
    expect([...reported.slice(before)].sort()).toEqual([...PAYMENT].sort());
    const shards = async (): Promise<unknown> => [
      ...(await createRelayCheckpoints(harness.client, harness.tableName).load()),
    ];
    const saved = await shards();
    for (let turn = 0; turn < 20; turn += 1) expect(await second.turn()).toBe(0);
    expect(await shards()).toEqual(saved);
    harness.close();
  });

  it('takes a new iterator from its checkpoint when the old one has expired, without a gap', async () => {
    const { harness, stream, reported, options, readAll } = await relayed();
    let expire = false;
    const expiring: ChangeStream = {
      ...stream,
      read: (iterator) => {
        if (!expire) return stream.read(iterator);
        expire = false;
        return Promise.resolve({ kind: 'EXPIRED' });
      },
    };
    const reader = await createRelayReader({ ...options, stream: expiring });
    await pay(harness);
    await readAll(reader);
    expire = true;
    await pay(harness);
    expect(await reader.turn()).toBe(0);
    expect(expire).toBe(false);
    await readAll(reader);
    expect([...reported].sort()).toEqual([...PAYMENT, ...PAYMENT].sort());
    harness.close();
  });

  it('is read by one at a time; another takes over at once when it stops, and after the lease when it dies', async () => {
    const { harness, reported, options } = await relayed();
    const { clock } = harness;
    const checkpoints = createRelayCheckpoints(harness.client, harness.tableName);
    expect(await checkpoints.lease('dead', clock, 10_000)).toBe(true);
    expect(await checkpoints.lease('me', clock, 10_000)).toBe(false);
    expect(await checkpoints.lease('dead', clock, 10_000)).toBe(true);
    await pay(harness);
    const start = (): ReturnType<typeof startRelay> =>
      startRelay({
        ...options,
        ids: { token: () => crypto.randomUUID(), fraction: () => 0.5 },
        wait: () => new Promise((resolve) => setImmediate(resolve)),
        leaseMs: 10_000,
        pollMs: 1,
        refreshMs: 0,
      });
    const waiting = start();
    for (let turn = 0; turn < 20; turn += 1) await checkpoints.load();
    expect(reported).toEqual([]);
    clock.advance(10_001);
    await expect.poll(() => [...reported].sort(), { timeout: 10_000 }).toEqual([...PAYMENT].sort());
    await waiting.stop();
    await pay(harness);
    const next = start();
    await expect
      .poll(() => [...reported].sort(), { timeout: 10_000 })
      .toEqual([...PAYMENT, ...PAYMENT].sort());
    await next.stop();
    harness.close();
  });

  it('keeps only its lease and its checkpoints, under system#relay', async () => {
    const { harness, reader, readAll } = await relayed();
    await pay(harness);
    await readAll(await reader());
    const page = await harness.ledger.store.scan(0, 1, undefined);
    const own = page.items.filter((item) => item['uuid']?.S?.startsWith('system#') === true);
    expect(own.length).toBeGreaterThan(0);
    for (const item of own) {
      expect(item['uuid']?.S).toBe(systemKey('relay', '').uuid);
      expect(item['type']?.S).toMatch(/^(LEASE|SHARD#.+)$/);
    }
    harness.close();
  });
});
