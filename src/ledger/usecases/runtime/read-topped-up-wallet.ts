import { balanceOf } from '../../items/balance-item.ts';
import { balanceKey, entryKey } from '../../kernel/keys.ts';
import { type Decimal, ZERO } from '../../kernel/money.ts';
import { readEntry } from '../../model/entries/entry.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import { shortfallOf, toppedUpAsset } from '../../model/orders/postings.ts';
import type { Ledger } from './ledger.ts';
import { readItem } from './read-items.ts';

/** What is left in the wallet that a top-up credited; nothing for a purchase, whose money isn't in a wallet. */
export async function readToppedUpBalance(ledger: Ledger, order: Order): Promise<Decimal> {
  if (order.kind !== 'TOP_UP') return ZERO;
  const [item] = await ledger.store.get([balanceKey({ ...order, asset: toppedUpAsset(order) })]);
  return balanceOf(item);
}

/**
 * What the wallet lacked when a top-up's refund that we were asked for was taken, by its entry: nothing, unless it was
 * found at the provider after a loss.
 */
export async function readShortfall(
  ledger: Ledger,
  order: Order,
  refund: Refund | undefined,
): Promise<Decimal> {
  if (order.kind !== 'TOP_UP' || refund?.source !== 'REQUESTED' || refund.entryId === undefined) return ZERO;
  const entry = await readItem(ledger, entryKey({ ...order, entryId: refund.entryId }), readEntry);
  return entry === undefined ? ZERO : shortfallOf(order, [entry]);
}
