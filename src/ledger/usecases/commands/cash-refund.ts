import type { Tenant } from '../../../config/tenants.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { ledgerAccount } from '../../model/entries/entry.ts';
import { toppedUpAsset } from '../../model/orders/postings.ts';
import { insufficient } from './charge.ts';
import type { Decision } from '../runtime/guarded-command.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { refundSynchronously } from './refund-synchronously.ts';
import type { RefundKind, RefundToMake } from './refund.ts';

/** A cash top-up goes back: the value out of the wallet, if it is still there, the money at the same terminal in cash. */
export function cashRefund(ledger: Ledger, tenant: Tenant, toMake: RefundToMake): Decision<RefundKind> {
  const { order, refund } = toMake;
  const { amount } = refund;
  const asset = toppedUpAsset(order);
  const terminalId = order.payment?.terminalId;
  if (terminalId === undefined) throw new RangeError('no terminal took cash for this order');
  const debit = ledgerAccount.wallet(order.accountId);
  const credit = ledgerAccount.cash(terminalId);
  return {
    ...refundSynchronously(ledger, toMake, { asset, postings: [{ debit, credit, asset, amount }] }),
    whenRefused: (failed) => {
      const role = `balance:${asset}` as const;
      if (!failed.has(role)) return undefined;
      return { kind: 'REFUSE', outcome: insufficient(tenant, asset, amount, balanceOf(failed.get(role))) };
    },
  };
}
