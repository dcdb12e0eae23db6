import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { COMMITTED_FAULTS, FAULTS, LASTING_FAULTS } from './fault-list.ts';
import { type FaultyWorld, makeFaultyWorld } from './faulty-world.ts';
import { PROVIDER_SCENARIOS, STEP_SCENARIOS } from './provider-scenarios.ts';
import { survives } from './survival.ts';

/**
 * What calls the provider, is told by it, or follows up, under every fault of the table. The provider works: what it
 * does to a claim when it doesn't is told by the tests of each operation.
 */

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

describe.each([...PROVIDER_SCENARIOS, ...STEP_SCENARIOS])(
  '$name has its effect once when a request is',
  (scenario) => {
    it.each(FAULTS)('$name', async (fault) => {
      await survives(world, scenario, fault, { times: 1, late: 'AFTER_RETRY' });
    });

    it.each(LASTING_FAULTS)('$name for long, and it is asked again', async (fault) => {
      await survives(world, scenario, fault, { times: 1_000, late: 'BEFORE_RETRY' });
      if (fault.fault.kind !== 'LATE') return;
      await survives(world, scenario, fault, { times: 1_000, late: 'AFTER_RETRY' });
    });
  },
);

describe.each(PROVIDER_SCENARIOS.filter(({ transactions }) => transactions === 2))(
  '$name has its effect once when its completion is',
  (scenario) => {
    it.each([...COMMITTED_FAULTS, ...LASTING_FAULTS.filter(({ on }) => on === 'TransactWriteItems')])(
      '$name, once and for long',
      async (fault) => {
        await survives(world, scenario, fault, { after: 1, times: 1, late: 'AFTER_RETRY' });
        await survives(world, scenario, fault, { after: 1, times: 1_000, late: 'BEFORE_RETRY' });
        if (fault.fault.kind !== 'LATE') return;
        await survives(world, scenario, fault, { after: 1, times: 1_000, late: 'AFTER_RETRY' });
      },
    );
  },
);
