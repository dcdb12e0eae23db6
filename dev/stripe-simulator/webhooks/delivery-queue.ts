import { setImmediate } from 'node:timers';

/** One sending of an event's webhook, waiting for its turn. */
export interface QueuedSending {
  readonly event: string;
  /** How often it was tried before. */
  readonly attempt: number;
  /** How many sendings that came later go first. */
  overtakenBy: number;
}

export interface DeliveryQueue {
  /** Adds a sending, at once or after a delay. */
  readonly push: (sending: QueuedSending, delayMs: number) => void;
  /** Resolves true once nothing is queued, under way or delayed; false after the time-out. */
  readonly idle: (timeoutMs: number) => Promise<boolean>;
  /** Drops everything and lets who waits go. */
  readonly close: () => void;
}

/**
 * Sends what is pushed, so many at once, in order but for those that let others go first.
 * @param send sends one; whatever it does about a failure, it must not reject
 */
export function createDeliveryQueue(
  concurrency: number,
  send: (sending: QueuedSending) => Promise<void>,
): DeliveryQueue {
  const queue: QueuedSending[] = [];
  const delayed = new Set<NodeJS.Timeout>();
  const waiters = createWaiters();
  let underWay = 0;
  let starting = false;
  let closed = false;

  const isIdle = () => queue.length === 0 && underWay === 0 && delayed.size === 0 && !starting;

  /** Starts after the current turn, so that all events of one action are queued when the first is chosen. */
  const start = () => {
    if (starting) return;
    starting = true;
    setImmediate(() => {
      starting = false;
      while (underWay < concurrency && queue.length > 0 && !closed) {
        underWay += 1;
        void send(takeNext(queue)).finally(() => {
          underWay -= 1;
          start();
        });
      }
      if (isIdle()) waiters.release(true);
    });
  };

  return {
    push: (sending, delayMs) => {
      if (delayMs === 0) {
        queue.push(sending);
        start();
        return;
      }
      const timer = setTimeout(() => {
        delayed.delete(timer);
        queue.push(sending);
        start();
      }, delayMs);
      delayed.add(timer);
    },
    idle: (timeoutMs) => (isIdle() ? Promise.resolve(true) : waiters.wait(timeoutMs)),
    close: () => {
      closed = true;
      for (const timer of delayed) clearTimeout(timer);
      delayed.clear();
      queue.length = 0;
      waiters.release(false);
    },
  };
}

/** The first sending that waits for no other; where all wait, the oldest. Those passed over have waited once. */
function takeNext(queue: QueuedSending[]): QueuedSending {
  const ready = queue.findIndex((sending) => sending.overtakenBy <= 0);
  const index = Math.max(0, ready);
  for (const passed of queue.slice(0, index)) passed.overtakenBy -= 1;
  const [next] = queue.splice(index, 1);
  if (next === undefined) throw new RangeError('nothing to take from an empty queue');
  return next;
}

function createWaiters() {
  const waiting = new Set<(becameIdle: boolean) => void>();
  return {
    wait: (timeoutMs: number): Promise<boolean> =>
      new Promise((resolve) => {
        const finish = (becameIdle: boolean) => {
          clearTimeout(timer);
          waiting.delete(finish);
          resolve(becameIdle);
        };
        const timer = setTimeout(finish, timeoutMs, false);
        waiting.add(finish);
      }),
    release: (becameIdle: boolean) => {
      for (const finish of [...waiting]) finish(becameIdle);
    },
  };
}
