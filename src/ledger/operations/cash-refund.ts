import type { Tenant } from '../../tenants.ts';
import { bookEntry } from '../entry-writes.ts';
import { type Entry, ledgerAccount } from '../entry.ts';
import { toppedUpAsset } from '../orders/order-postings.ts';
import { updateOrder } from '../orders/order-writes.ts';
import { completeRefundAtOnce } from '../orders/refunds.ts';
import { balanceOf } from '../balance-item.ts';
import { insufficient } from './charge.ts';
import type { Decision } from './guarded-command.ts';
import type { Ledger } from './ledger.ts';
import type { RefundKind, RefundToMake } from './refund.ts';

/** A cash top-up goes back: the value out of the wallet, if it is still there, the money at the same terminal in cash. */
export function cashRefund(ledger: Ledger, tenant: Tenant, toMake: RefundToMake): Decision<RefundKind> {
  const { order, refund, actor, nowMs } = toMake;
  const asset = toppedUpAsset(order);
  const terminalId = order.payment?.terminalId;
  if (terminalId === undefined) throw new RangeError('no terminal took cash for this order');
  const entry: Entry = {
    tenant: order.tenant,
    accountId: order.accountId,
    entryId: ledger.ids.ulid(nowMs),
    operation: 'REFUND',
    postings: [
      {
        debit: ledgerAccount.wallet(order.accountId),
        credit: ledgerAccount.cash(terminalId),
        asset,
        amount: refund.amount,
      },
    ],
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
    parts: [updateOrder(order, after, ledger.settings, refund.amount), bookEntry(entry)],
    outcome: {
      kind: 'RefundSuccess',
      accountId: order.accountId,
      orderId: order.orderId,
      refundId: refund.refundId,
      entryId: entry.entryId,
      asset,
    },
    whenRefused: (failed) => {
      const role = `balance:${asset}` as const;
      if (!failed.has(role)) return undefined;
      return {
        kind: 'REFUSE',
        outcome: insufficient(tenant, asset, refund.amount, balanceOf(failed.get(role))),
      };
    },
  };
}
