import { updateOrder } from '../../items/order-writes.ts';
import { plan } from '../../items/plan.ts';
import { putRefund, readRefund } from '../../items/refund-item.ts';
import { orderKey, refundKey } from '../../kernel/keys.ts';
import { touch } from '../../model/orders/order-changes.ts';
import type { Lease, Order, Refund } from '../../model/orders/order.ts';
import { leaseOwnedBy } from '../../model/provider/attempts.ts';
import { decideAndCommit } from '../runtime/decide-and-commit.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { orderIn } from '../runtime/read-order.ts';
import { refundClaimOf } from './complete-claim.ts';

/**
 * Changes a refund on the condition that its claim is still this owner's. Gives it as it is then; undefined where there
 * is nothing to change, the claim was lost, or nobody knows whether it was written: then whoever takes over goes by what is there.
 */
export async function changeHeldRefund(
  ledger: Ledger,
  claimed: Order,
  lease: Lease,
  change: (refund: Refund, nowMs: number) => Refund | undefined,
): Promise<Refund | undefined> {
  const claim = refundClaimOf(claimed, lease);
  if (claim === undefined) return undefined;
  const keys = [orderKey(claimed), refundKey({ ...claimed, refundId: claim.refundId })];
  return decideAndCommit<Refund | undefined>(ledger, {
    decide: async () => {
      const [orderItem, refundItem] = await ledger.store.get(keys);
      const order = orderIn(orderItem);
      if (order === undefined || refundItem === undefined || leaseOwnedBy(order, lease.owner) === undefined)
        return { kind: 'ANSWER', answer: undefined };
      const nowMs = ledger.clock.nowMs();
      const refund = change(readRefund(refundItem), nowMs);
      if (refund === undefined) return { kind: 'ANSWER', answer: undefined };
      const after = touch(order, nowMs, {});
      return {
        kind: 'COMMIT',
        plan: plan(
          ledger.ids.token(),
          updateOrder(order, after, ledger.settings),
          putRefund({ order: after, refund }),
        ),
        committed: () => ({ ...refund, rev: after.rev }),
      };
    },
    failed: () => undefined,
  });
}
