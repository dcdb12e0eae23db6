import type { Tenant } from '../../../config/tenants.ts';
import { METRIC, type Posting, ledgerAccount, type BalanceGuard } from '../../model/entries/entry.ts';
import { debitWalletOrReceivable, walletRefundPosting } from '../../model/orders/postings.ts';
import { rewardTakenBack } from '../../model/orders/rewards.ts';
import type { Decision } from '../runtime/guarded-command.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { refundSynchronously } from './refund-synchronously.ts';
import type { RefundKind, RefundToMake } from './refund.ts';

/**
 * A wallet order's money goes back into the wallet, in the asset that paid, even past its cap. What the charge gave is
 * taken back in proportion: points that are spent already are booked to `receivable:{account}`, so that having spent
 * them never stops a refund.
 */
export function walletRefund(ledger: Ledger, tenant: Tenant, toMake: RefundToMake): Decision<RefundKind> {
  const { postings, guards } = rewardReversal(tenant, toMake);
  const money = walletRefundPosting(toMake.order, toMake.refund.amount);
  return refundSynchronously(ledger, toMake, { asset: money.asset, postings: [money, ...postings], guards });
}

function rewardReversal(
  tenant: Tenant,
  { order, refund, pointBalance }: RefundToMake,
): { readonly postings: readonly Posting[]; readonly guards: Readonly<Record<string, BalanceGuard>> } {
  const { payment, accountId } = order;
  if (payment?.points === undefined && payment?.co2Kg === undefined) return { postings: [], guards: {} };
  const { points, co2Kg } = rewardTakenBack(order, refund.amount, tenant.assets.get('POINT')?.scale ?? 0);
  const taking = debitWalletOrReceivable(accountId, 'POINT', points, pointBalance, ledgerAccount.issuer);
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
