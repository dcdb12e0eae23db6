import { expect } from 'vitest';
import type { NamedFault } from './fault-list.ts';
import type { FaultyWorld } from './faulty-world.ts';
import type { Ended, Prepared, Scenario } from './scenarios.ts';

export interface Survival {
  /** How many transactions of the operation come through before the fault begins. */
  readonly after?: number;
  /** How many requests in a row have the fault. */
  readonly times: number;
  /** When what was held reaches the engine: before the client asks again, or after it got its answer. */
  readonly late: 'BEFORE_RETRY' | 'AFTER_RETRY';
}

/**
 * Sends an operation into a fault, and then again with the same key: the first ends in success or in a failure that
 * says to do just that; the second succeeds; whatever comes after changes nothing; and the wallet has the effect once.
 */
export async function survives(
  world: FaultyWorld,
  scenario: Scenario,
  { on, fault, mostWrites }: NamedFault,
  { after = 0, times, late }: Survival,
): Promise<void> {
  const { proxy } = world;
  const prepared = await scenario.prepare(world);
  proxy.resetCounts();
  proxy.next({ operation: on, fault: { kind: 'PASS' }, times: after });
  proxy.next({ operation: on, fault, times });
  const first = await prepared.send();
  const sent = { writes: proxy.seen('TransactWriteItems'), reads: proxy.seen('BatchGetItem') };
  proxy.calm();
  if (late === 'BEFORE_RETRY') await proxy.release();
  expect(first.again || first.kind === scenario.answer, `the first attempt ended as ${first.kind}`).toBe(
    true,
  );
  const { transactions = 1, readsEach = 1 } = scenario;
  expect(sent.writes).toBeLessThanOrEqual(transactions * mostWrites + USUAL_WRITES);
  expect(sent.reads).toBeLessThanOrEqual(transactions * readsEach * MOST_READS);

  const second = await sendUntilSettled(world, prepared);
  expect(second.kind).toBe(scenario.answer);
  if (!first.again) expect(second.details).toEqual(first.details);
  await proxy.release();
  const third = await prepared.send();
  expect(third.details).toEqual(second.details);
  expect(await world.picture(prepared.accountId)).toEqual(scenario.leaves);
}

/** Beside the transaction with the fault: one that succeeds, and a refusal's own. */
const USUAL_WRITES = 2;
/** Five tries of a read; or one read for each of five decisions, and one after an unknown outcome. */
const MOST_READS = 6;

/** One retry, as the failure says: after the wait that it names. A claim of a lost process first has to lapse. */
export async function sendUntilSettled(world: FaultyWorld, prepared: Prepared): Promise<Ended> {
  const second = await prepared.send();
  if (second.kind !== 'IdempotencyInProgress') return second;
  world.clock.advance((second.retryAfterMs ?? 0) + 1);
  return await prepared.send();
}
