import { expect } from 'vitest';
import type { StripeDay } from './stripe-day.ts';

/** Prints what the day held, with the seed that plays it again, and demands that all of it came right. */
export function expectCleanDay(day: StripeDay): void {
  const { audit, reconciliation, books, wrong, ...counts } = day;
  const { payments, refunds, disputes } = reconciliation;
  const compared = { payments, refunds, disputes, orders: audit.orders, entries: audit.entries };
  console.log(JSON.stringify({ ...counts, compared, books }, undefined, 1));
  const reported = Object.values(day.stories).reduce((sum, count) => sum + count, 0);
  // Without these the rest would be true of an empty table.
  expect(reported).toBe(day.payments);
  expect(audit.orders).toBeGreaterThanOrEqual(day.payments);
  expect(payments).toBeGreaterThan(day.payments / 2);
  expect(day.webhooks['LOST']).toBeGreaterThan(0);
  expect(day.webhooks['DUPLICATE']).toBeGreaterThan(0);

  // Every event that no webhook told of was found in the provider's list.
  expect.soft(day.healedEvents).toBeGreaterThanOrEqual(day.webhooks['LOST'] ?? 0);
  expect.soft(audit).toMatchObject({ problems: [], unsettled: [] });
  expect.soft(reconciliation).toMatchObject({ findings: [], foreign: 0, complete: true });
  expect.soft(wrong).toEqual([]);
  expect.soft(books.ledger).toEqual(books.provider);
  expect.soft(day.waiting).toBe(0);
  expect(day.healedAfterHours).toBeLessThanOrEqual(24);
}
