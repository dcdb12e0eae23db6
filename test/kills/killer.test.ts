import { expect, it } from 'vitest';
import { runKiller } from '../support/killer.ts';

it(
  'nothing acknowledged is lost and nothing happens twice, when gateway and engine are killed under load',
  { timeout: 240_000 },
  async () => {
    const after = await runKiller({ kills: 4, customers: 6, seed: 20_300_317 });
    expect(after).toMatchObject({ missing: [], doubled: [], unsettled: 0, wrongBalances: [] });
    expect(after.audit).toMatchObject({ problems: [], unsettled: [] });
    expect(after.acknowledged).toBeGreaterThanOrEqual(10);
    expect(after.lost).toBeGreaterThan(0);
  },
);
