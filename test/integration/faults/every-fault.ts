import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { COMMITTED_FAULTS, FAULTS, LASTING_FAULTS } from './fault-list.ts';
import { type FaultyWorld, makeFaultyWorld } from './faulty-world.ts';
import type { Scenario } from './scenarios.ts';
import { survives } from './survival.ts';

/** Tests of a file: each operation under every fault, once and for as long as the gateway tries (docs/DESIGN.md §14). */
export function haveTheirEffectOnce(scenarios: readonly Scenario[]): void {
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

  describe.each(scenarios)('$name has its effect once when a request is', (scenario) => {
    it.each(FAULTS)('$name', async (fault) => {
      await survives(world, scenario, fault, { times: 1, late: 'AFTER_RETRY' });
    });

    it.each(LASTING_FAULTS)('$name for long, and it is asked again', async (fault) => {
      await survives(world, scenario, fault, { times: 1_000, late: 'BEFORE_RETRY' });
      if (fault.fault.kind !== 'LATE') return;
      await survives(world, scenario, fault, { times: 1_000, late: 'AFTER_RETRY' });
    });
  });

  const claiming = scenarios.filter(({ transactions }) => transactions === 2);
  if (claiming.length === 0) return;
  describe.each(claiming)('$name has its effect once when its completion is', (scenario) => {
    it.each([...COMMITTED_FAULTS, ...LASTING_FAULTS.filter(({ on }) => on === 'TransactWriteItems')])(
      '$name, once and for long',
      async (fault) => {
        await survives(world, scenario, fault, { after: 1, times: 1, late: 'AFTER_RETRY' });
        await survives(world, scenario, fault, { after: 1, times: 1_000, late: 'BEFORE_RETRY' });
        if (fault.fault.kind !== 'LATE') return;
        await survives(world, scenario, fault, { after: 1, times: 1_000, late: 'AFTER_RETRY' });
      },
    );
  });
}
