import { expect } from 'vitest';
import { seededFractions } from '../../support/seeded.ts';
import { FAULTS } from './fault-list.ts';
import { makeFaultyWorld } from './faulty-world.ts';
import { LEDGER_SCENARIOS } from './scenarios.ts';

/** A client gives up on one request after so many tries; far more than most requests going wrong can take. */
const MOST_TRIES = 40;
/** The most requests that one try of an operation may cost the engine, whatever mix of faults it meets. */
const MOST_REQUESTS = 40;

/**
 * Operations one after another, each request of theirs going wrong by chance, each sent until it is settled. Gives what
 * happened, operation by operation: the same for the same seed.
 */
export async function runWithRandomFaults(seed: number, operations: number): Promise<readonly string[]> {
  const world = await makeFaultyWorld();
  const fraction = seededFractions(seed);
  const history: string[] = [];
  try {
    for (let count = 0; count < operations; count += 1) {
      const scenario = LEDGER_SCENARIOS[Math.floor(fraction() * LEDGER_SCENARIOS.length)];
      if (scenario === undefined) throw new Error('a fraction is below one');
      const prepared = await scenario.prepare(world);
      const faults = FAULTS.map(({ fault }) => fault);
      world.proxy.randomly({ seed: Math.floor(fraction() * 2 ** 31), rate: 0.6, faults });
      let tries = 0;
      let requests = 0;
      let last;
      do {
        tries += 1;
        world.proxy.resetCounts();
        last = await prepared.send();
        expect(world.proxy.seen()).toBeLessThanOrEqual(MOST_REQUESTS);
        requests += world.proxy.seen();
        if (fraction() < 0.3) await world.proxy.release();
      } while (last.again && tries < MOST_TRIES);
      world.proxy.calm();
      expect(last.kind, `${scenario.name}, the ${String(count)}th with seed ${String(seed)}`).toBe(
        scenario.answer,
      );
      await world.proxy.release();
      expect((await prepared.send()).details).toEqual(last.details);
      expect(await world.picture(prepared.accountId)).toEqual(scenario.leaves);
      history.push(`${scenario.name}: try ${String(tries)}, ${String(requests)} requests`);
    }
  } finally {
    await world.stop();
  }
  return history;
}
