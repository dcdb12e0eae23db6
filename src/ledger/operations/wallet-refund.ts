import type { Tenant } from '../../tenants.ts';
import { type BalanceGuard, bookEntry } from '../entry-writes.ts';
import { type Entry, METRIC, type Posting, ledgerAccount, postings } from '../entry.ts';
import { takeAsFact, walletRefundPosting } from '../orders/order-postings.ts';
import { updateOrder } from '../orders/order-writes.ts';
import { completeRefundAtOnce } from '../orders/refunds.ts';
import { rewardTakenBack } from '../orders/rewards.ts';
import type { Decision } from './guarded-command.ts';
import type { Ledger } from './ledger.ts';
import type { RefundKind, RefundToMake } from './refund.ts';

/**
 * A wallet order's money goes back into the wallet, in the asset that paid, even past its cap. What the charge gave is
 * taken back in proportion: points that are spent already are booked to `receivable:{account}`, so that having spent
 * them never stops a refund.
 */
export function walletRefund(ledger: Ledger, tenant: Tenant, toMake: RefundToMake): Decision<RefundKind> {
  const { order, refund, actor, nowMs } = toMake;
  const reward = rewardReversal(tenant, toMake);
  const money = walletRefundPosting(order, refund.amount);
  const entry: Entry = {
    tenant: order.tenant,
    accountId: order.accountId,
    entryId: ledger.ids.ulid(nowMs),
    operation: 'REFUND',
    postings: postings(money, ...reward.postings),
    orderId: order.orderId,
    refundId: refund.refundId,
    ...(refund.reason === undefined ? {} : { reason: refund.reason }),
    actor,
    atMs: nowMs,
  };
  const after = completeRefundAtOnce(
    order,
    { ...refund, entryId: entry.entryId },
    ledger.followUps.afterRefund(order, refund.refundId),
    { actor, atMs: nowMs },
  );
  return {
    kind: 'COMMIT',
    parts: [updateOrder(order, after, ledger.settings, refund.amount), bookEntry(entry, reward.guards)],
    outcome: {
      kind: 'RefundSuccess',
      accountId: order.accountId,
      orderId: order.orderId,
      refundId: refund.refundId,
      entryId: entry.entryId,
      asset: money.asset,
    },
  };
}

function rewardReversal(
  tenant: Tenant,
  { order, refund, pointBalance }: RefundToMake,
): { readonly postings: readonly Posting[]; readonly guards: Readonly<Record<string, BalanceGuard>> } {
  const { payment, accountId } = order;
  if (payment?.points === undefined && payment?.co2Kg === undefined) return { postings: [], guards: {} };
  const { points, co2Kg } = rewardTakenBack(order, refund.amount, tenant.assets.get('POINT')?.scale ?? 0);
  const taking = takeAsFact(accountId, 'POINT', points, pointBalance, ledgerAccount.issuer);
  const metrics = ledgerAccount.metrics(accountId);
  return {
    postings: [
      ...taking.postings,
      { debit: metrics, credit: ledgerAccount.issuer, asset: METRIC.charged, amount: refund.amount },
      { debit: metrics, credit: ledgerAccount.issuer, asset: METRIC.co2Kg, amount: co2Kg },
    ],
    guards: taking.guards,
  };
}
