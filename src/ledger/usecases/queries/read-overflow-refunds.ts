import { overflowIn } from '../../audit/overflow-items.ts';
import type { Entry } from '../../model/entries/entry.ts';
import { refundKey } from '../../kernel/keys.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { refundPages } from '../runtime/provider-pages.ts';
import { readDistinct } from '../runtime/read-distinct.ts';

/** Of one payment; an order of which Stripe lists more has them shown as far as its entries name them. */
const MAX_PAGES = 10;

/**
 * Refunds that have items of their own, since their order was full, the oldest first. Those that moved money are named by
 * the order's entries; for the others no index leads from the order to them, so the provider is asked for the refunds of
 * its payments. Where it can't be asked they are missing: `order.overflow` says how many there are.
 */
export async function readOverflowRefunds(
  ledger: Ledger,
  order: Order,
  entries: readonly Entry[],
): Promise<readonly Refund[]> {
  const { overflow } = order;
  if (overflow === undefined) return [];
  const named = entries.flatMap(({ operation, providerId }) =>
    operation === 'REFUND' && providerId !== undefined ? [providerId] : [],
  );
  const found = await readOf(ledger, order, named);
  if (found.length >= overflow.count) return found;
  return readOf(ledger, order, [...named, ...(await listedIds(ledger, order))]);
}

async function readOf(
  { store }: Ledger,
  { orderId }: Order,
  providerRefundIds: readonly string[],
): Promise<readonly Refund[]> {
  const items = await readDistinct(store, providerRefundIds.map(refundKey));
  const refunds = items.map(overflowIn).filter((one) => one.orderId === orderId);
  return refunds.map(({ refund }) => refund).sort((one, other) => one.createdAtMs - other.createdAtMs);
}

async function listedIds({ provider }: Ledger, { payment, overpayments }: Order): Promise<readonly string[]> {
  const paymentIds = [payment?.paymentId, ...overpayments.map(({ paymentId }) => paymentId)];
  const ids: string[] = [];
  for (const paymentId of paymentIds) {
    if (paymentId === undefined) continue;
    let pages = 0;
    for await (const page of refundPages(provider, paymentId)) {
      if (page.kind !== 'DONE') break;
      ids.push(...page.value.items.map(({ providerRefundId }) => providerRefundId));
      if ((pages += 1) === MAX_PAGES) break;
    }
  }
  return ids;
}
