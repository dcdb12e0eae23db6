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

function wholeNumber(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name} takes a whole number.`);
  return Number.parseInt(text, 10);
}
