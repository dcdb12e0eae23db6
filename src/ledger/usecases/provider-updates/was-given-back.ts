import { isPaid } from '../../model/orders/order-states.ts';
import { type Order, overpaymentRefundId } from '../../model/orders/order.ts';
import type { RecordedPayment } from '../../model/provider/update-decision.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { refundPages } from '../runtime/provider-pages.ts';

/**
 * Whether the first payment that an order gets to know again is none of its own: after a loss, what was given back as an
 * overpayment may be found before what was kept.
 */
export async function wasGivenBack(
  { provider }: Ledger,
  order: Order,
  paymentId: string,
  recorded: RecordedPayment | undefined,
): Promise<boolean | 'UNKNOWN'> {
  if (isPaid(order.state)) return false;
  if (recorded !== undefined) return recorded.recordedAs === 'SURPLUS';
  for await (const page of refundPages(provider, paymentId)) {
    if (page.kind !== 'DONE') return 'UNKNOWN';
    if (page.value.items.some(({ metadata }) => metadata.refundId === overpaymentRefundId(paymentId)))
      return true;
  }
  return false;
}
