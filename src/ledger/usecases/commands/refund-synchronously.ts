import { recordEntry } from '../../items/entry-writes.ts';
import { type Entry, type Posting, postings, type BalanceGuard } from '../../model/entries/entry.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { completeRefundSynchronously } from '../../model/orders/refunds.ts';
import type { Decision } from '../runtime/guarded-command.ts';
import type { Ledger } from '../runtime/ledger.ts';
import type { RefundKind, RefundToMake } from './refund.ts';

/** How a refund that nobody else has a say in is booked. */
export interface RefundRecording {
  /** The asset whose balance moves. */
  readonly asset: string;
  readonly postings: readonly Posting[];
  readonly guards?: Readonly<Record<string, BalanceGuard>>;
}

/** A refund that the ledger makes by itself: order and entry in one transaction. */
export function refundSynchronously(
  ledger: Ledger,
  { order, refund, actor, nowMs }: RefundToMake,
  recorded: RefundRecording,
): Extract<Decision<RefundKind>, { kind: 'COMMIT' }> {
  const { tenant, accountId, orderId } = order;
  const { refundId, reason } = refund;
  const entry: Entry = {
    tenant,
    accountId,
    entryId: ledger.ids.ulid(nowMs),
    operation: 'REFUND',
    postings: postings(...recorded.postings),
    orderId,
    refundId,
    ...(reason === undefined ? {} : { reason }),
    actor,
    atMs: nowMs,
  };
  const after = completeRefundSynchronously(
    order,
    { ...refund, entryId: entry.entryId },
    ledger.followUps.afterRefund(order, refundId),
    { actor, atMs: nowMs },
  );
  return {
    kind: 'COMMIT',
    parts: [updateOrder(order, after, ledger.settings, refund.amount), recordEntry(entry, recorded.guards)],
    outcome: {
      kind: 'RefundSuccess',
      accountId,
      orderId,
      refundId,
      entryId: entry.entryId,
      asset: recorded.asset,
    },
  };
}
