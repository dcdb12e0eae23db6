import type { Tenant } from '../../../config/tenants.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { putRefund } from '../../items/refund-item.ts';
import type { PlanPart } from '../../items/plan.ts';
import { defined } from '../../kernel/defined.ts';
import type { Decimal } from '../../kernel/money.ts';
import {
  type BalanceGuard,
  type Entry,
  METRIC,
  type Posting,
  ledgerAccount,
  postings,
} from '../../model/entries/entry.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import { debitWalletOrReceivable, toppedUpAsset, walletRefundPosting } from '../../model/orders/postings.ts';
import { type RefundChange, beginRefund, completeRefundSynchronously } from '../../model/orders/refunds.ts';
import { rewardTakenBack } from '../../model/orders/rewards.ts';
import { newLease } from '../provider-calls/complete-claim.ts';
import type { Decision } from '../runtime/guarded-command.ts';
import type { Request } from '../runtime/idempotency.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { whenInsufficient } from '../runtime/outcomes.ts';

export type RefundKind =
  | 'RefundSuccess'
  | 'RefundExceedsRefundable'
  | 'OrderNotRefundable'
  | 'OrderDisputed'
  | 'InsufficientBalance'
  | 'ProviderRefused';

/** A refund that may be made: of this order, of this much, with what was read beside it. */
export interface RefundToMake {
  readonly tenant: Tenant;
  /** The request that asks for it. */
  readonly request: Request;
  readonly order: Order;
  readonly refund: Refund;
  readonly actor: string;
  readonly nowMs: number;
  /** The wallet's POINT balance, of which a reward is taken back. */
  readonly pointBalance: Decimal;
}

/**
 * A wallet order's money goes back into the wallet, in the asset that paid, even past its cap. What the charge gave is
 * taken back in proportion: points that are spent already are booked to `receivable:{account}`, so that having spent
 * them never stops a refund.
 */
export function walletRefund(ledger: Ledger, toMake: RefundToMake): Decision<RefundKind> {
  const reversal = rewardReversal(toMake);
  const money = walletRefundPosting(toMake.order, toMake.refund.amount);
  return refundSynchronously(ledger, toMake, {
    asset: money.asset,
    postings: [money, ...reversal.postings],
    guards: reversal.guards,
  });
}

function rewardReversal({ tenant, order, refund, pointBalance }: RefundToMake): {
  readonly postings: readonly Posting[];
  readonly guards: Readonly<Record<string, BalanceGuard>>;
} {
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

/** A cash top-up goes back: the value out of the wallet, if it is still there, the money at the same terminal in cash. */
export function cashRefund(ledger: Ledger, toMake: RefundToMake): Decision<RefundKind> {
  const { tenant, order, refund } = toMake;
  const { amount } = refund;
  const asset = toppedUpAsset(order);
  const terminalId = order.payment?.terminalId;
  if (terminalId === undefined) throw new RangeError('no terminal took cash for this order');
  const debit = ledgerAccount.wallet(order.accountId);
  const credit = ledgerAccount.cash(terminalId);
  return {
    ...refundSynchronously(ledger, toMake, { asset, postings: [{ debit, credit, asset, amount }] }),
    whenRefused: whenInsufficient(tenant, asset, amount),
  };
}

/** How a refund that nobody else has a say in is booked. */
interface RefundRecording {
  /** The asset whose balance moves. */
  readonly asset: string;
  readonly postings: readonly Posting[];
  readonly guards?: Readonly<Record<string, BalanceGuard>>;
}

/** A refund that the ledger makes by itself: order and entry in one transaction. */
function refundSynchronously(
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
  const change = completeRefundSynchronously(
    order,
    { ...refund, entryId: entry.entryId },
    ledger.followUps({ kind: 'refunded', refundId, atMs: nowMs }, order),
    { actor, atMs: nowMs },
  );
  return {
    kind: 'COMMIT',
    parts: [...writes(ledger, order, change), recordEntry(entry, recorded.guards)],
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

/**
 * The claim of a refund at the provider: reserves the amount, bounded by `refundable` in the database too, and of a
 * top-up takes the value out of the wallet first (docs/DESIGN.md §5.5, §8).
 */
export function cardRefund(
  ledger: Ledger,
  { tenant, request, order, refund, actor, nowMs }: RefundToMake,
): Decision<RefundKind> {
  const paymentId = order.payment?.paymentId;
  if (paymentId === undefined) throw new RangeError('no provider payment paid this order');
  const entry = order.kind === 'TOP_UP' ? valueTaken(ledger, order, refund, paymentId, nowMs) : undefined;
  const lease = newLease(ledger, request, nowMs);
  const claimed: Refund = { ...refund, paymentId, ...defined({ entryId: entry?.entryId }) };
  const change = beginRefund(order, claimed, { actor, atMs: nowMs }, lease);
  return {
    kind: 'CLAIM',
    parts: [...writes(ledger, order, change), ...(entry === undefined ? [] : [recordEntry(entry)])],
    order: change.order,
    lease,
    refundId: refund.refundId,
    whenRefused:
      entry === undefined ? undefined : whenInsufficient(tenant, toppedUpAsset(order), refund.amount),
  };
}

/** The order, where there is still enough to give back, and the refund. */
function writes({ settings }: Ledger, order: Order, change: RefundChange): readonly PlanPart[] {
  return [updateOrder(order, change.order, settings, change.refund.amount), putRefund(change)];
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
