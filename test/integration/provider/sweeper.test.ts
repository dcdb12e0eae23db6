import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sweeper, startSweeper } from '../../../src/fulfilment/sweeper.ts';
import { type ProviderHarness, checkedOut, makeProviderHarness, paidByCard } from './support.ts';

/** The loop that heals lost webhooks, with its waits in the test's hand. */

const EVENTS_EVERY_MS = 300_000;
const HOUR_MS = 3_600_000;

interface Running {
  readonly sweeper: Sweeper;
  /** Resolves with how long the loop means to wait, once it has looked through the events. */
  readonly lookedThrough: () => Promise<number>;
  /** Ends the loop's wait, as time would. */
  readonly goOn: () => void;
  readonly logged: readonly string[];
  readonly swept: readonly string[];
  readonly pacedMs: readonly number[];
}

let harness: ProviderHarness;
let running: Running;

function start(callsPerSecond: number, ledger = harness.ledger): Running {
  const logged: string[] = [];
  const swept: string[] = [];
  const pacedMs: number[] = [];
  const pauses: number[] = [];
  let announce: () => void = () => undefined;
  let goOn: () => void = () => undefined;
  const sweeper = startSweeper(ledger, {
    callsPerSecond,
    eventsEveryMs: EVENTS_EVERY_MS,
    wait: (ms, signal) => {
      // Only the pause between two looks is this long: the others are for a turn at the provider.
      if (ms < EVENTS_EVERY_MS) {
        pacedMs.push(ms);
        return Promise.resolve();
      }
      pauses.push(ms);
      announce();
      return new Promise((resolve) => {
        goOn = resolve;
        signal.addEventListener('abort', () => {
          resolve();
        });
      });
    },
    metrics: {
      count: (name, ...labels) => {
        swept.push(labels[0] === undefined ? name : JSON.stringify(labels[0]));
      },
    },
    logger: {
      info: (message, fields) => logged.push(`info ${message} ${JSON.stringify(fields)}`),
      warn: (message, fields) => logged.push(`warn ${message} ${JSON.stringify(fields)}`),
    },
  });
  return {
    sweeper,
    logged,
    swept,
    pacedMs,
    goOn: () => {
      goOn();
    },
    lookedThrough: async () => {
      while (pauses.length === 0) {
        await new Promise<void>((resolve) => {
          announce = resolve;
        });
      }
      return pauses.shift() ?? 0;
    },
  };
}

beforeEach(async () => {
  harness = await makeProviderHarness();
});
afterEach(async () => {
  await running.sweeper.stop();
  await harness.stop();
});

describe('the sweeper', () => {
  it('looks through the events again and again, and applies what no webhook told of', async () => {
    running = start(1_000);
    const pauseMs = await running.lookedThrough();
    expect(pauseMs).toBeGreaterThanOrEqual(EVENTS_EVERY_MS);
    expect(pauseMs).toBeLessThanOrEqual(EVENTS_EVERY_MS * 1.1);
    const { orderId, sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    await harness.advance(Math.ceil(pauseMs));
    running.goOn();
    await running.lookedThrough();
    expect(running.logged).toEqual([
      expect.stringMatching(/^info Events without a webhook were applied \{"count":[1-9]/),
    ]);
    expect((await harness.order('t_1', 'u_1', orderId)).state).toBe('PAID');
  });

  it('goes on after an outage of the provider, and says what was left', async () => {
    await harness.simulator.failNextRequests({
      method: 'GET',
      path: '/v1/events',
      count: 1,
      status: 500,
      type: 'api_error',
    });
    running = start(1_000);
    await harness.advance(Math.ceil(await running.lookedThrough()));
    expect(running.logged).toEqual([expect.stringContaining('could not be listed to the end')]);
    running.goOn();
    await running.lookedThrough();
    expect(running.logged).toHaveLength(1);
  });

  it('names each event that it gives up, and counts it as failed', async () => {
    const { paymentId } = await paidByCard(harness);
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 2500 });
    const listed = await harness.ledger.provider.listEvents({ limit: 100 });
    const reported =
      listed.kind === 'DONE' ? listed.value.items.find(({ type }) => type === 'charge.refunded') : undefined;
    if (reported === undefined) throw new Error('no such event');
    const denied = { kind: 'UNAVAILABLE', reason: 'permission_denied' } as const;
    const { ledger } = harness;
    const listEvents: typeof ledger.provider.listEvents = (page) =>
      Promise.resolve({
        kind: 'DONE',
        value: {
          items: page.createdFromS === undefined || reported.createdS >= page.createdFromS ? [reported] : [],
          hasMore: false,
        },
      });
    const provider = { ...ledger.provider, listEvents, listRefunds: () => Promise.resolve(denied) };
    await harness.advance(2 * HOUR_MS);
    running = start(1_000, { ...ledger, provider });
    await running.lookedThrough();
    expect(running.logged).toEqual(['warn Events are left to be applied {"count":1}']);
    expect(running.swept).toEqual(['EventSweep']);
    await harness.advance(6 * HOUR_MS);
    running.goOn();
    await running.lookedThrough();
    expect(running.logged.slice(1)).toEqual([
      'warn Events are left to be applied {"count":1}',
      `warn An event is given up: replayWebhookEvent applies it {"eventId":"${reported.eventId}","eventType":"charge.refunded","livemode":false,"tenant":"t_1"}`,
    ]);
    expect(running.swept.slice(1)).toEqual([
      '{"type":"charge.refunded","outcome":"FAILED"}',
      'EventFailed',
      'EventSweep',
    ]);
  });

  it('asks the provider no faster than it may, whatever it asks for, and counts what came of each order', async () => {
    running = start(4);
    await running.lookedThrough();
    const { orderId } = await checkedOut(harness);
    await harness.advance(31 * 60_000);
    const ref = { tenant: 't_1', accountId: 'u_1', orderId };
    const asked = harness.calls.length;
    await running.sweeper.sweep(ref);
    await running.sweeper.sweep(ref);
    expect(harness.calls.slice(asked)).toEqual(['retrieveSession']);
    const other = await checkedOut(harness);
    await harness.advance(62 * 60_000);
    await Promise.all([
      running.sweeper.sweep(ref),
      running.sweeper.sweep({ ...ref, orderId: other.orderId }),
    ]);
    expect(running.pacedMs).toEqual([250]);
    expect(running.swept).toEqual([
      'EventSweep',
      '{"result":"WAITING"}',
      '{"result":"NOT_DUE"}',
      // An hour later both payment pages have ended.
      '{"result":"SETTLED"}',
      '{"result":"SETTLED"}',
    ]);
  });

  it('stops in the middle of its pause, and looks at nothing more', async () => {
    running = start(1_000);
    await running.lookedThrough();
    const asked = harness.calls.length;
    await running.sweeper.stop();
    await running.sweeper.stop();
    expect(harness.calls).toHaveLength(asked);
  });
});
