import { afterEach, expect, it } from 'vitest';
import { DEFAULT_STEP_POLICY } from '../../../src/ledger/model/orders/steps.ts';
import {
  DONE,
  type FulfilmentHarness,
  eventually,
  followUp,
  makeFulfilment,
  putPaidOrder,
  reread,
} from './support.ts';

/** Steps of one order that end at the same time are all written into one item (docs/DESIGN.md §10). */

let harness: FulfilmentHarness;
afterEach(async () => {
  await harness.stop();
});

const NAMES = Array.from({ length: 16 }, (_, index) => `probe-${String.fromCharCode(97 + index)}`);

/** Follow-ups whose runs end together, once all of them have begun; and how often each ran. */
function endingTogether(): {
  readonly runs: ReadonlyMap<string, number>;
  readonly followUps: ReturnType<typeof followUp>[];
} {
  const runs = new Map<string, number>();
  let begun = (): void => undefined;
  const allBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const followUps = NAMES.map((name) =>
    followUp(async () => {
      runs.set(name, (runs.get(name) ?? 0) + 1);
      if (runs.size === NAMES.length) begun();
      await allBegun;
      return DONE;
    }, name),
  );
  return { runs, followUps };
}

it('sixteen steps of one order that end together each run once, and the order is CONFIRMED', async () => {
  const { runs, followUps } = endingTogether();
  const logged: string[] = [];
  harness = await makeFulfilment(followUps, { logged });
  const order = await putPaidOrder(harness.ledger);
  harness.startWorker();
  await eventually(() => {
    const ended = logged.filter((line) => /A step is done|could not be recorded/.test(line));
    expect(ended).toHaveLength(16);
  });
  expect(logged.filter((line) => line.includes('could not be recorded'))).toEqual([]);
  // Whatever was left under a lease would be taken up again now.
  harness.clock.advance(DEFAULT_STEP_POLICY.leaseMs + 1);
  const now = await eventually(async () => {
    const read = await reread(harness, order);
    expect(read.state).toBe('CONFIRMED');
    return read;
  });
  expect([...runs.values()]).toEqual(Array.from({ length: 16 }, () => 1));
  expect(now.steps.map(({ state, attempts }) => [state, attempts])).toEqual(
    Array.from({ length: 16 }, () => ['DONE', 1]),
  );
  const causes = now.timeline.map(({ cause }) => cause);
  expect(causes.filter((cause) => cause === 'STEP_DONE')).toHaveLength(16);
  expect(causes.slice(0, 2)).toEqual(['CREATED', 'WALLET_CHARGED']);
  expect(causes.at(-1)).toBe('COMPLETED');
  expect(causes).toHaveLength(19);
  expect(now.version).toBe(19);
});
