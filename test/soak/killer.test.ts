import { expect, it } from 'vitest';
import { runKiller } from '../support/killer.ts';

it('nothing is lost or doubled in sixty kills under load', async () => {
  const after = await runKiller({ kills: 60, customers: 12, seed: 1 });
  console.log(`${String(after.acknowledged)} charges acknowledged, ${String(after.lost)} answers lost`);
  expect(after).toMatchObject({ missing: [], doubled: [], unsettled: 0, wrongBalances: [] });
  expect(after.audit).toMatchObject({ problems: [], unsettled: [] });
});
