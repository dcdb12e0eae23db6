import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { FAULTS, LASTING_FAULTS } from './fault-list.ts';
import { type FaultyWorld, makeFaultyWorld } from './faulty-world.ts';
import { LEDGER_SCENARIOS } from './scenarios.ts';
import { survives } from './survival.ts';

/** Every operation of the ledger under every fault: once, and for as long as the gateway tries (docs/DESIGN.md §14). */

let world: FaultyWorld;
beforeAll(async () => {
  world = await makeFaultyWorld();
});
afterEach(async () => {
  world.proxy.calm();
  await world.proxy.release();
});
afterAll(async () => {
  await world.stop();
});

describe.each(LEDGER_SCENARIOS)('$name has its effect once when a request is', (scenario) => {
  it.each(FAULTS)('$name', async (fault) => {
    await survives(world, scenario, fault, { times: 1, late: 'AFTER_RETRY' });
  });

  it.each(LASTING_FAULTS)('$name for long, and the client asks again with the same key', async (fault) => {
    await survives(world, scenario, fault, { times: 1_000, late: 'BEFORE_RETRY' });
    if (fault.fault.kind !== 'LATE') return;
    await survives(world, scenario, fault, { times: 1_000, late: 'AFTER_RETRY' });
  });
});
