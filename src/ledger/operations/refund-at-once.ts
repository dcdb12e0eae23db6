import { type BalanceGuard, bookEntry } from '../entry-writes.ts';
import { type Entry, type Posting, postings } from '../entry.ts';
import { updateOrder } from '../orders/order-writes.ts';
import { completeRefundAtOnce } from '../orders/refunds.ts';
import type { Decision } from './guarded-command.ts';
import type { Ledger } from './ledger.ts';
import type { RefundKind, RefundToMake } from './refund.ts';

/** How a refund that nobody else has a say in is booked. */
export interface RefundBooking {
  /** The asset whose balance moves. */
  readonly asset: string;
  readonly postings: readonly Posting[];
  readonly guards?: Readonly<Record<string, BalanceGuard>>;
}

/** A refund that the ledger makes by itself: order and entry in one transaction. */
export function refundAtOnce(
  ledger: Ledger,
  { order, refund, actor, nowMs }: RefundToMake,
  booking: RefundBooking,
): Extract<Decision<RefundKind>, { kind: 'COMMIT' }> {
  const { tenant, accountId, orderId } = order;
  const { refundId, reason } = refund;
  const entry: Entry = {
    tenant,
    accountId,
    entryId: ledger.ids.ulid(nowMs),
    operation: 'REFUND',
    postings: postings(...booking.postings),
    orderId,
    refundId,
    ...(reason === undefined ? {} : { reason }),
    actor,
    atMs: nowMs,
  };
  const after = completeRefundAtOnce(
    order,
    { ...refund, entryId: entry.entryId },
    ledger.followUps.afterRefund(order, refundId),
    { actor, atMs: nowMs },
  );
  return {
    kind: 'COMMIT',
    parts: [updateOrder(order, after, ledger.settings, refund.amount), bookEntry(entry, booking.guards)],
    outcome: {
      kind: 'RefundSuccess',
      accountId,
      orderId,
      refundId,
      entryId: entry.entryId,
      asset: booking.asset,
    },
  };
}
