import { expect, it } from 'vitest';
import { runWithRandomFaults } from '../integration/faults/random-faults.ts';

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'three hundred operations under random faults happen once each: seed %i',
  async (seed) => {
    expect(await runWithRandomFaults(seed, 300)).toHaveLength(300);
  },
);
