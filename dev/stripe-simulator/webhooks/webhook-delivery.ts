import { type DeliveryChaos, planSendings } from './delivery-chaos.ts';
import { createDeliveryQueue, type DeliveryQueue } from './delivery-queue.ts';

export interface WebhookDeliveryParts {
  readonly url: string | undefined;
  readonly on: boolean;
  readonly chaos: DeliveryChaos;
  readonly seed: string;
  /** How many webhooks are under way at once; 1 keeps them in the order of their events. */
  readonly concurrency: number;
  readonly firstRetryMs: number;
  readonly maxAttempts: number;
  /** Posts an event once. Gives the status answered, or 0 without an answer. */
  readonly post: (url: string, eventId: string, signal: AbortSignal) => Promise<number>;
  /** Told when an endpoint has taken an event. */
  readonly onDelivered: (eventId: string) => void;
  /** Told when an event won't be sent (again). */
  readonly onAbandoned: (eventId: string, reason: 'lost' | 'out of attempts') => void;
}

export interface SentWebhook {
  readonly event: string;
  /** The status answered; 0 if there was no answer. */
  readonly status: number;
}

/** Sends webhooks: in the background with retries, or at once when asked to. */
export interface WebhookDelivery {
  /** Whether an event of now would be sent. */
  readonly isOn: () => boolean;
  readonly enqueue: (eventId: string) => void;
  /** Keeps back whatever is enqueued from now on, until released. */
  readonly hold: () => void;
  readonly held: () => readonly string[];
  /** Sends these held events, one after the other, and keeps holding. Ids that aren't held are ignored. */
  readonly release: (eventIds: readonly string[]) => Promise<readonly SentWebhook[]>;
  /** Sends all that is held, in the order it was held, and stops holding. */
  readonly releaseAll: () => Promise<readonly SentWebhook[]>;
  /** Sends an event now, whether or not it was sent before, so many times in parallel. No retries follow. */
  readonly sendNow: (eventId: string, copies: number) => Promise<readonly SentWebhook[]>;
  readonly setUrl: (url: string) => void;
  readonly setOn: (on: boolean) => void;
  readonly setChaos: (chaos: DeliveryChaos) => void;
  /** Resolves true once nothing is queued, under way or waiting for a retry; false after the time-out. */
  readonly idle: DeliveryQueue['idle'];
  readonly close: () => void;
}

const MAX_RETRY_MS = 30_000;

export function createWebhookDelivery(parts: WebhookDeliveryParts): WebhookDelivery {
  const closing = new AbortController();
  let { url, on, chaos } = parts;
  let enqueued = 0;

  const send = async (event: string): Promise<number> => {
    if (url === undefined) return 0;
    const status = await parts.post(url, event, closing.signal);
    if (isTaken(status)) parts.onDelivered(event);
    return status;
  };
  const queue = createDeliveryQueue(parts.concurrency, async ({ event, attempt }) => {
    if (!isTaken(await send(event)) && !closing.signal.aborted) retry(event, attempt + 1);
  });
  const retry = (event: string, attempt: number) => {
    if (attempt >= parts.maxAttempts) {
      parts.onAbandoned(event, 'out of attempts');
      return;
    }
    const delayMs = Math.min(MAX_RETRY_MS, parts.firstRetryMs * 2 ** (attempt - 1));
    queue.push({ event, attempt, overtakenBy: 0 }, delayMs);
  };
  const holding = createHolding(async (event) => {
    const status = await send(event);
    if (!isTaken(status)) retry(event, 1);
    return status;
  });

  return {
    ...holding,
    isOn: () => on && url !== undefined,
    enqueue: (event) => {
      if (holding.keep(event)) return;
      enqueued += 1;
      const sendings = planSendings(chaos, parts.seed, enqueued);
      if (sendings.length === 0) parts.onAbandoned(event, 'lost');
      for (const { overtakenBy, delayMs } of sendings)
        queue.push({ event, attempt: 0, overtakenBy }, delayMs);
    },
    sendNow: async (event, copies) =>
      await Promise.all(Array.from({ length: copies }, async () => ({ event, status: await send(event) }))),
    setUrl: (next) => {
      url = next;
    },
    setOn: (next) => {
      on = next;
    },
    setChaos: (next) => {
      chaos = next;
    },
    idle: queue.idle,
    close: () => {
      closing.abort();
      queue.close();
    },
  };
}

/** Events kept back, and how they are let go: one after the other, each answered before the next is sent. */
function createHolding(send: (event: string) => Promise<number>) {
  let isHolding = false;
  let kept: string[] = [];
  const release = async (events: readonly string[]): Promise<readonly SentWebhook[]> => {
    const sent: SentWebhook[] = [];
    for (const event of events) {
      if (!kept.includes(event)) continue;
      kept = kept.filter((other) => other !== event);
      sent.push({ event, status: await send(event) });
    }
    return sent;
  };
  return {
    /** Keeps an event back if events are held now. */
    keep: (event: string): boolean => {
      if (isHolding) kept.push(event);
      return isHolding;
    },
    hold: () => {
      isHolding = true;
    },
    held: () => kept,
    release,
    releaseAll: async () => {
      isHolding = false;
      return await release([...kept]);
    },
  };
}

function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}
