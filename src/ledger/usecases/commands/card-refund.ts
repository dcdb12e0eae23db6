import type { Tenant } from '../../../config/tenants.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import { type Entry, ledgerAccount } from '../../model/entries/entry.ts';
import { defined } from '../../kernel/defined.ts';
import type { IdempotencyRecord } from '../../items/idempotency-record.ts';
import { toppedUpAsset } from '../../model/orders/postings.ts';
import { updateOrder } from '../../items/order-writes.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import type { Answered, ProviderFailure } from '../../model/outcomes.ts';
import { beginRefund } from '../../model/orders/refunds.ts';
import { answerClaimResult, resumeRequest } from '../provider-calls/resume-request.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { insufficient } from './charge.ts';
import { newLease } from '../provider-calls/complete-claim.ts';
import { completeLeased } from '../provider-calls/complete-abandoned.ts';
import type { Decision } from '../runtime/guarded-command.ts';
import type { Request } from '../runtime/idempotency.ts';
import type { Ledger } from '../runtime/ledger.ts';
import type { RefundKind, RefundToMake } from './refund.ts';

/**
 * The claim of a refund at the provider: reserves the amount, bounded by `refundable` in the database too, and of a
 * top-up takes the value out of the wallet first (docs/DESIGN.md §5.5, §8).
 */
export function claimCardRefund(
  ledger: Ledger,
  tenant: Tenant,
  request: Request,
  { order, refund, actor, nowMs }: RefundToMake,
): Decision<RefundKind> {
  const paymentId = order.payment?.paymentId;
  if (paymentId === undefined) throw new RangeError('no provider payment paid this order');
  const entry = order.kind === 'TOP_UP' ? valueTaken(ledger, order, refund, paymentId, nowMs) : undefined;
  const claimed: Refund = {
    ...refund,
    paymentId,
    lease: newLease(ledger, request, nowMs),
    ...defined({ entryId: entry?.entryId }),
  };
  const after = beginRefund(order, claimed, { actor, atMs: nowMs });
  return {
    kind: 'CLAIM',
    parts: [
      updateOrder(order, after, ledger.settings, refund.amount),
      ...(entry === undefined ? [] : [recordEntry(entry)]),
    ],
    order: after,
    refundId: refund.refundId,
    whenRefused: (failed) => {
      const asset = order.asset ?? '';
      const role = `balance:${asset}` as const;
      if (entry === undefined || !failed.has(role)) return undefined;
      return {
        kind: 'REFUSE',
        outcome: insufficient(tenant, asset, refund.amount, balanceOf(failed.get(role))),
      };
    },
  };
}

function valueTaken(
  ledger: Ledger,
  order: Order,
  { refundId, amount, reason, actor }: Refund,
  paymentId: string,
  atMs: number,
): Entry {
  const { tenant, accountId, orderId } = order;
  const wallet = ledgerAccount.wallet(accountId);
  return {
    tenant,
    accountId,
    entryId: ledger.ids.ulid(atMs),
    operation: 'REFUND',
    postings: [{ debit: wallet, credit: ledgerAccount.stripe, asset: toppedUpAsset(order), amount }],
    orderId,
    refundId,
    providerId: paymentId,
    ...defined({ reason }),
    actor,
    atMs,
  };
}

/** Asks the provider for a refund that was just claimed, and completes it. */
export async function completeCardRefund(
  ledger: Ledger,
  request: Request,
  order: Order,
): Promise<Answered<RefundKind> | ProviderFailure> {
  const claim = order.refunds.at(-1)?.lease;
  if (claim === undefined) throw new RangeError('claimed, yet without a claim');
  return answerClaimResult(ledger, request, await completeLeased(ledger, order, claim, false));
}

/** Answers the key of a refund that somebody holds, or whose lease is past. */
export function resumeCardRefund(
  ledger: Ledger,
  request: Request,
  record: IdempotencyRecord,
): Promise<Answered<RefundKind> | ProviderFailure> {
  return resumeRequest(ledger, request, record);
}
