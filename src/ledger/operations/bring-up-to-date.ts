import { claimsOf, mayTakeOver } from '../attempts.ts';
import { orderKey } from '../keys.ts';
import { readOrder } from '../order-item.ts';
import type { Order } from '../order.ts';
import { completeAllAbandoned } from './complete-abandoned.ts';
import type { Ledger } from './ledger.ts';

/**
 * Settles what earlier attempts left of an order before something new is decided on it: claims whose lease is past.
 * Reads the order again where there was something to settle.
 */
export async function bringUpToDate(ledger: Ledger, order: Order): Promise<Order> {
  const nowMs = ledger.clock.nowMs();
  if (!claimsOf(order).some((claim) => mayTakeOver(claim, nowMs))) return order;
  await completeAllAbandoned(ledger, order);
  const [item] = await ledger.store.get([orderKey(order)]);
  return item === undefined ? order : readOrder(item);
}
