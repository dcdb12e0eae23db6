import { balanceKey } from '../../kernel/keys.ts';
import { type Decimal, ZERO } from '../../kernel/money.ts';
import { toppedUpAsset } from '../../model/orders/postings.ts';
import type { Order } from '../../model/orders/order.ts';
import { balanceOf } from '../../items/balance-item.ts';
import type { Ledger } from './ledger.ts';

/** What is left in the wallet that a top-up credited; nothing for a purchase, whose money isn't in a wallet. */
export async function readToppedUpBalance(ledger: Ledger, order: Order): Promise<Decimal> {
  if (order.kind !== 'TOP_UP') return ZERO;
  const [item] = await ledger.store.get([balanceKey({ ...order, asset: toppedUpAsset(order) })]);
  return balanceOf(item);
}
