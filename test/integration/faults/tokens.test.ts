import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { COMMITTED_FAULTS } from './fault-list.ts';
import { type FaultyWorld, makeFaultyWorld } from './faulty-world.ts';
import { LEDGER_SCENARIOS } from './scenarios.ts';
import { survives } from './survival.ts';

/**
 * Correctness rests on the idempotency record in the transaction, never on an engine's memory of client request
 * tokens, which is ten minutes at best (C13, C14).
 */

const ENGINES = [
  { name: 'that has forgotten every token', tokens: 'FRESH' },
  {
    name: 'that knows no tokens, sent maps in another order each time',
    tokens: 'STRIPPED',
    shuffleKeys: true,
  },
  { name: 'that is sent maps in another order each time', tokens: 'KEPT', shuffleKeys: true },
] as const;

const OPERATIONS = LEDGER_SCENARIOS.filter(({ name }) =>
  ['charge', 'charge without the money', 'adjustBalance downwards', 'refund to the wallet, in part'].includes(
    name,
  ),
);

describe.each(ENGINES)('on an engine $name', (engine) => {
  let world: FaultyWorld;
  beforeAll(async () => {
    world = await makeFaultyWorld(engine);
  });
  afterEach(async () => {
    world.proxy.calm();
    await world.proxy.release();
  });
  afterAll(async () => {
    await world.stop();
  });

  it.each(OPERATIONS)(
    '$name happens once, whatever is lost after the commit',
    { timeout: 60_000 },
    async (scenario) => {
      expect(COMMITTED_FAULTS).toHaveLength(8);
      for (const fault of COMMITTED_FAULTS) {
        await survives(world, scenario, fault, { times: 1, late: 'AFTER_RETRY' });
        if (fault.fault.kind !== 'LATE' && fault.fault.kind !== 'DROP_AFTER') continue;
        await survives(world, scenario, fault, { times: 1_000, late: 'BEFORE_RETRY' });
      }
    },
  );
});
