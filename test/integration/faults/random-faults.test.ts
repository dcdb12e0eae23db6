import { expect, it } from 'vitest';
import { sufferRandomFaults } from './random-faults.ts';

it('operations whose every request may go wrong happen once each, and the same seed is the same history', async () => {
  const history = await sufferRandomFaults(7, 40);
  expect(new Set(history).size).toBeGreaterThan(20);
  expect(await sufferRandomFaults(7, 40)).toEqual(history);
});
