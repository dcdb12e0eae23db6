import { readRefund } from '../../items/refund-item.ts';
import { isId } from '../../kernel/id-grammar.ts';
import { refundKey } from '../../kernel/keys.ts';
import { type Order, type Refund, overpaymentOf } from '../../model/orders/order.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { readFirstRefunds } from '../runtime/read-refunds.ts';

/** An order's refunds, the oldest first. Of very many the first by their ids. Nothing is read where there are none. */
export async function listRefunds(ledger: Ledger, order: Order): Promise<readonly Refund[]> {
  if (order.refundCount === 0) return [];
  const refunds = await readFirstRefunds(ledger, order);
  return byAge(refunds.filter((refund) => overpaymentOf(order, refund) === undefined));
}

/** One of an order's refunds, for who may see the order; none of an overpayment. */
export async function findRefund(
  ledger: Ledger,
  order: Order,
  refundId: string,
): Promise<Refund | undefined> {
  if (!isId(refundId)) return undefined;
  const refund = await readItem(ledger, refundKey({ ...order, refundId }), readRefund);
  return refund !== undefined && overpaymentOf(order, refund) === undefined ? refund : undefined;
}

export function byAge(refunds: readonly Refund[]): readonly Refund[] {
  return refunds.toSorted((one, other) => one.createdAtMs - other.createdAtMs);
}
