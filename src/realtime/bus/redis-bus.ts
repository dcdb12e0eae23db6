import { Redis, type RedisOptions } from 'ioredis';
import type { Bus, Heard, Listener, Notice } from './bus.ts';

export interface RedisBus extends Bus {
  /** Closes both connections. */
  readonly close: () => void;
}

export interface RedisBusOptions {
  readonly url: string;
  /** Runs something periodically; returns what stops it. */
  readonly every: (periodMs: number, run: () => void) => () => void;
  /** A notice reached this process alone, since Redis couldn't carry it. */
  readonly onDropped: () => void;
  /** Called with every loss of a connection. */
  readonly onError: (error: unknown) => void;
}

const CHANNEL_PREFIX = 'hitotsu:';
/** Notices on their way to Redis. Beyond that it counts as down. */
const MAX_IN_FLIGHT = 1_000;
const PING_MS = 5_000;

/*
 * Nothing waits for a Redis that is down: commands fail at once instead of queueing. A silent connection is cut off and made
 * anew. This file subscribes again itself, since only it knows whose topics had a gap.
 */
const CONNECTION: RedisOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: null,
  connectTimeout: 3_000,
  socketTimeout: 3_000,
  retryStrategy: (times) => Math.min(100 * 2 ** Math.min(times, 5), 2_000),
};

/**
 * The bus of many processes (docs/DESIGN.md §9). One connection publishes, one listens, and each topic is subscribed once. A
 * notice that Redis can't carry still reaches this process; all others catch up from the table.
 */
export function createRedisBus(options: RedisBusOptions): RedisBus {
  const publisher = new Redis(options.url, CONNECTION);
  const subscriber = new Redis(options.url, CONNECTION);
  const connections = [publisher, subscriber];
  for (const connection of connections) connection.on('error', options.onError);
  const { subscribe, deliver } = listenOn(subscriber);
  const stopPings = options.every(PING_MS, () => {
    // The answer doesn't matter: a connection that gives none is cut off by its time-out.
    for (const connection of connections) if (isReady(connection)) connection.ping().catch(ignore);
  });
  let inFlight = 0;

  function drop(topic: string, notice: Notice): void {
    deliver(topic, notice);
    options.onDropped();
  }

  return {
    status: () => (connections.every(isReady) ? 'ready' : 'degraded'),
    publish: (topic, notice) => {
      if (!isReady(publisher) || inFlight >= MAX_IN_FLIGHT) {
        drop(topic, notice);
        return;
      }
      inFlight += 1;
      publisher
        .publish(CHANNEL_PREFIX + topic, JSON.stringify(notice))
        .catch(() => {
          drop(topic, notice);
        })
        .finally(() => (inFlight -= 1));
    },
    subscribe,
    close: () => {
      stopPings();
      for (const connection of connections) connection.disconnect();
    },
  };
}

interface Topic {
  readonly listeners: Set<Listener>;
  /** Resolves once Redis has confirmed the subscription, or once it can't. */
  confirmed: Promise<void>;
}

/** Delivers what comes over one connection, and a `gap` to every listener when the connection is a new one. */
function listenOn(subscriber: Redis) {
  const topics = new Map<string, Topic>();

  function deliver(name: string, heard: Heard): void {
    for (const listener of [...(topics.get(name)?.listeners ?? [])]) listener(heard);
  }

  function confirm(name: string, topic: Topic): void {
    if (!isReady(subscriber)) return;
    // It fails only with its connection, and the next connection subscribes again.
    topic.confirmed = subscriber.subscribe(CHANNEL_PREFIX + name).then(ignore, ignore);
  }

  async function resubscribe(): Promise<void> {
    const known = [...topics];
    for (const [name, topic] of known) confirm(name, topic);
    for (const [name, topic] of known) {
      await topic.confirmed;
      deliver(name, { kind: 'gap' });
    }
  }

  subscriber.on('ready', () => void resubscribe());
  subscriber.on('message', (channel: string, text: string) => {
    const notice = parseNotice(text);
    if (notice !== undefined) deliver(channel.slice(CHANNEL_PREFIX.length), notice);
  });

  const subscribe: Bus['subscribe'] = async (name, listener) => {
    const known = topics.get(name);
    const topic = known ?? { listeners: new Set(), confirmed: Promise.resolve() };
    topic.listeners.add(listener);
    if (known === undefined) {
      topics.set(name, topic);
      confirm(name, topic);
    }
    await topic.confirmed;
    return () => {
      topic.listeners.delete(listener);
      if (topic.listeners.size > 0 || topics.get(name) !== topic) return;
      topics.delete(name);
      if (isReady(subscriber)) subscriber.unsubscribe(CHANNEL_PREFIX + name).catch(ignore);
    };
  };
  return { subscribe, deliver };
}

function isReady(connection: Redis): boolean {
  return connection.status === 'ready';
}

function ignore(): void {
  // Each use says why.
}

/** Other programs may write to the same Redis. Returns undefined for what isn't a notice. */
function parseNotice(text: string): Notice | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isNotice(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isNotice(value: unknown): value is Notice {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  if (value.kind === 'entry') return 'entry' in value;
  return value.kind === 'transition' && 'order' in value && 'transition' in value;
}
