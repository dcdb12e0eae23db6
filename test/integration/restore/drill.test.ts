import { expect, it } from 'vitest';
import { drill } from '../../support/drill.ts';
import { drillSettings } from '../../support/property-settings.ts';

/** `npm run drill` asks for twenty moments; one is enough each time. DRILL_SEED plays the same again. */
it('a day of traffic comes back from whatever moment of it', { timeout: 1_200_000 }, async () => {
  const { seed, orders, money, moments } = await drill(drillSettings());
  for (const { atMs, items, rebuilt, differences, problems } of moments)
    console.log(
      `seed ${String(seed)}, restored to ${new Date(atMs).toISOString()} (${String(items)} items): ${String(orders)} orders, ` +
        `${JSON.stringify(money)} at Stripe, ${String(differences.length)} differences, ${String(problems.length)} of wallets cut in two`,
      JSON.stringify(rebuilt),
    );
  expect(orders).toBeGreaterThanOrEqual(12);
  expect(moments.flatMap(({ differences }) => differences)).toEqual([]);
});
