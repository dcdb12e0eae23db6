import { expect, it } from 'vitest';
import { runWithRandomFaults } from './random-faults.ts';

it(
  'operations whose every request may go wrong happen once each, and the same seed is the same history',
  { timeout: 60_000 },
  async () => {
    const history = await runWithRandomFaults(7, 24);
    expect(new Set(history).size).toBeGreaterThan(16);
    expect(await runWithRandomFaults(7, 24)).toEqual(history);
  },
);
