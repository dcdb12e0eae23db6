import type { Ledger } from '../runtime/ledger.ts';

/** Counting stops here: past it an operator needs no exact number. */
const MAX_COUNTED = 1_000;

/**
 * How many orders have dead steps, over all tenants, counted up to a thousand a tenant: the alert's number. As fresh as
 * the index. Throws TableUnavailableError in an outage.
 */
export async function countDeadOrders(ledger: Ledger): Promise<number> {
  const counts = await Promise.all(
    [...ledger.tenants.keys()].map(async (tenant) => {
      const query = { index: 'listed', hash: `dead#${tenant}`, limit: MAX_COUNTED } as const;
      return (await ledger.store.queryIndex({ ...query, newestFirst: true })).length;
    }),
  );
  return counts.reduce((sum, one) => sum + one, 0);
}
