/**
 * How many sequences the property tests run, and from which seed: `PROPERTY_RUNS=5000 PROPERTY_SEED=7 npx vitest run
 * test/property`. A failure prints its seed; the same seed plays the same history.
 */
export function propertySettings(): { readonly runs: number; readonly seed: number } {
  return {
    runs: wholeNumber('PROPERTY_RUNS') ?? 500,
    seed: wholeNumber('PROPERTY_SEED') ?? Date.now() % 2 ** 31,
  };
}

/**
 * How many payments the simulated day has, and which seed decides it: `STRIPE_DAY_PAYMENTS=300 STRIPE_DAY_SEED=7 npm run
 * test:long`. The report of a day prints both.
 */
export function stripeDaySettings(payments: number): { readonly payments: number; readonly seed: number } {
  return {
    payments: wholeNumber('STRIPE_DAY_PAYMENTS') ?? payments,
    seed: wholeNumber('STRIPE_DAY_SEED') ?? Date.now() % 2 ** 31,
  };
}

/** To how many moments of a day `npm run drill` restores: `DRILL_MOMENTS=20 DRILL_SEED=7`. Its report prints the seed. */
export function drillSettings(): {
  readonly moments: number;
  readonly payments: number;
  readonly seed: number;
} {
  return {
    moments: wholeNumber('DRILL_MOMENTS') ?? 1,
    payments: wholeNumber('DRILL_PAYMENTS') ?? 12,
    seed: wholeNumber('DRILL_SEED') ?? Date.now() % 2 ** 31,
  };
}

function wholeNumber(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name} takes a whole number.`);
  return Number.parseInt(text, 10);
}
