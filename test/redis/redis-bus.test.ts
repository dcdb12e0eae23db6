import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, inject, it } from 'vitest';
import type { Heard, Notice } from '../../src/realtime/bus/bus.ts';
import { type RedisBus, createRedisBus } from '../../src/realtime/bus/redis-bus.ts';
import { ownRedis } from './support.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

interface CountedBus extends RedisBus {
  readonly dropped: () => number;
  /** Sends the pings that are sent every few seconds. */
  readonly ping: () => void;
}

function bus(url: string): CountedBus {
  let dropped = 0;
  let ping = (): void => undefined;
  const made = createRedisBus({
    url,
    every: (_periodMs, run) => {
      ping = run;
      return () => undefined;
    },
    onDropped: () => (dropped += 1),
    onError: () => undefined,
  });
  cleanUp.push(made.close);
  return {
    ...made,
    dropped: () => dropped,
    ping: () => {
      ping();
    },
  };
}

async function ready(...buses: readonly RedisBus[]): Promise<void> {
  await expect
    .poll(() => buses.map((one) => one.status()), { timeout: 10_000 })
    .toEqual(buses.map(() => 'ready'));
}

const entry = (entryId: string): Notice => ({
  kind: 'entry',
  entry: { tenant: 't_1', accountId: 'u_1', entryId },
});

describe('the bus on Redis', () => {
  it('carries notices to every process that subscribed before they were published, and to each once', async () => {
    const url = inject('redisUrl');
    const [one, other] = [bus(url), bus(url)];
    await ready(one, other);
    const topic = randomUUID();
    const heard: Heard[][] = [[], [], []];
    await one.subscribe(topic, (notice) => heard[0]?.push(notice));
    await other.subscribe(topic, (notice) => heard[1]?.push(notice));
    await other.subscribe(topic, (notice) => heard[2]?.push(notice));
    for (let index = 0; index < 100; index += 1) one.publish(topic, entry(`e${index}`));
    await expect.poll(() => heard.map(({ length }) => length)).toEqual([100, 100, 100]);
    const sent = Array.from({ length: 100 }, (_unused, index) => entry(`e${index}`));
    expect(heard).toEqual([sent, sent, sent]);
    expect(one.dropped()).toBe(0);
  });

  it('hears what is published right after subscribe() has resolved, by whomever', async () => {
    const url = inject('redisUrl');
    const [one, other] = [bus(url), bus(url)];
    await ready(one, other);
    for (let round = 0; round < 100; round += 1) {
      const topic = randomUUID();
      const first = new Promise<Heard>((resolve) => {
        void one.subscribe(topic, resolve).then(() => {
          other.publish(topic, entry(topic));
        });
      });
      expect(await first).toEqual(entry(topic));
    }
  });

  it('hears nothing of a topic once the last listener has gone, and again when one comes back', async () => {
    const url = inject('redisUrl');
    const one = bus(url);
    await ready(one);
    const topic = randomUUID();
    const heard: string[] = [];
    const hear = (name: string) => (notice: Heard) =>
      heard.push(`${name} ${notice.kind === 'entry' ? notice.entry.entryId : ''}`);
    const leaveA = await one.subscribe(topic, hear('a'));
    const leaveB = await one.subscribe(topic, hear('b'));
    leaveA();
    leaveA();
    one.publish(topic, entry('1'));
    await expect.poll(() => heard).toEqual(['b 1']);
    leaveB();
    const marks: Heard[] = [];
    await one.subscribe(`${topic} marks`, (notice) => marks.push(notice));
    one.publish(topic, entry('2'));
    one.publish(`${topic} marks`, entry('2 has passed'));
    await expect.poll(() => marks.length).toBe(1);
    const leaveC = await one.subscribe(topic, hear('c'));
    one.publish(topic, entry('3'));
    await expect.poll(() => heard).toEqual(['b 1', 'c 3']);
    leaveC();
  });

  it('survives its death: nothing throws or waits, this process still hears, and a gap is told when it is back', async () => {
    const redis = await ownRedis();
    const server = await redis.start();
    cleanUp.push(server.stop);
    const one = bus(redis.url);
    await ready(one);
    const heard: Heard[] = [];
    await one.subscribe('t_1#order', (notice) => heard.push(notice));
    process.kill(server.pid, 'SIGKILL');
    await expect.poll(() => one.status()).toBe('degraded');
    one.publish('t_1#order', entry('while down'));
    expect(heard).toEqual([entry('while down')]);
    expect(one.dropped()).toBe(1);
    // Somebody subscribes in the outage: at once, and told of the gap as well.
    const late: Heard[] = [];
    await one.subscribe('t_1#late', (notice) => late.push(notice));
    cleanUp.push((await redis.start()).stop);
    await ready(one);
    await expect
      .poll(() => [heard, late])
      .toEqual([[entry('while down'), { kind: 'gap' }], [{ kind: 'gap' }]]);
    one.publish('t_1#late', entry('after'));
    await expect.poll(() => late.at(-1)).toEqual(entry('after'));
  });

  it('begins degraded where there is no Redis yet, and is ready once there is', async () => {
    const redis = await ownRedis();
    const one = bus(redis.url);
    const heard: Heard[] = [];
    await one.subscribe('t_1#order', (notice) => heard.push(notice));
    one.publish('t_1#order', entry('early'));
    expect([one.status(), one.dropped(), heard]).toEqual(['degraded', 1, [entry('early')]]);
    cleanUp.push((await redis.start()).stop);
    await ready(one);
    await expect.poll(() => heard.at(-1)).toEqual({ kind: 'gap' });
  });

  it('finds out that a connection has gone silent, and makes it anew', async () => {
    const redis = await ownRedis();
    const server = await redis.start();
    cleanUp.push(server.stop);
    const one = bus(redis.url);
    await ready(one);
    const heard: Heard[] = [];
    await one.subscribe('t_1#order', (notice) => heard.push(notice));
    // While all is well pings change nothing.
    for (let times = 0; times < 3; times += 1) one.ping();
    one.publish('t_1#order', entry('before'));
    await expect.poll(() => heard).toEqual([entry('before')]);
    process.kill(server.pid, 'SIGSTOP');
    one.ping();
    await expect.poll(() => one.status(), { timeout: 10_000 }).toBe('degraded');
    process.kill(server.pid, 'SIGCONT');
    await ready(one);
    await expect.poll(() => heard).toEqual([entry('before'), { kind: 'gap' }]);
  });
});
