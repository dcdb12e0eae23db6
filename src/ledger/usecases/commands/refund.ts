import { z } from 'zod';
import { mayRefund } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { currency } from '../../kernel/currencies.ts';
import { type OrderRef, balanceKey, orderKey } from '../../kernel/keys.ts';
import { type Decimal, ZERO, formatDecimal } from '../../kernel/money.ts';
import { readOrder } from '../../items/order-item.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import {
  type Answered,
  CONFLICT,
  NOT_FOUND,
  type ProviderFailure,
  type Stored,
  invalid,
} from '../../model/outcomes.ts';
import { type RefundObjection, refundObjection } from '../../model/orders/refunds.ts';
import { claimCardRefund, completeCardRefund, resumeCardRefund } from './card-refund.ts';
import { cashRefund } from './cash-refund.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { type Decision, runGuardedCommand } from '../runtime/guarded-command.ts';
import type { Request } from '../runtime/idempotency.ts';
import {
  decimalText,
  invalidWith,
  optional,
  orderRefOf,
  parseInput,
  priceIssue,
  shortText,
} from '../runtime/input.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { walletRefund } from './wallet-refund.ts';

export type RefundKind =
  | 'RefundSuccess'
  | 'RefundExceedsRefundable'
  | 'OrderNotRefundable'
  | 'OrderDisputed'
  | 'InsufficientBalance'
  | 'ProviderRefused';
export type RefundOutcome = Answered<RefundKind> | ProviderFailure;

const inputSchema = z.strictObject({
  orderId: z.string(),
  amount: optional(decimalText),
  reason: optional(shortText(200)),
});

/** A refund that may be made: of this order, of this much, with what was read beside it. */
export interface RefundToMake {
  readonly order: Order;
  readonly refund: Refund;
  readonly actor: string;
  readonly nowMs: number;
  /** The wallet's POINT balance, of which a reward is taken back. */
  readonly pointBalance: Decimal;
}

/**
 * Returns a paid order's money to where it came from, in full or in part: a wallet order to the wallet, even past its
 * cap; a card order at Stripe; a top-up out of the wallet first. Without an amount, all that remains.
 */
export async function refund(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: z.input<typeof inputSchema>,
): Promise<RefundOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { orderId, amount, reason } = parsed.value;
  const ref = orderRefOf(viewer.tenant, orderId);
  if (ref === undefined) return NOT_FOUND;
  const run = await runGuardedCommand<RefundKind>(ledger, viewer, {
    operation: 'refund',
    key,
    input: { order: ref, amount, reason },
    reads: [orderKey(ref), balanceKey({ ...ref, asset: 'POINT' })],
    decide: (found, nowMs, request) => decide(ledger, viewer, { ref, amount, reason, request }, found, nowMs),
  });
  switch (run.kind) {
    case 'ANSWERED':
      return run.answer;
    case 'CLAIMED':
      return completeCardRefund(ledger, run.request, run.order);
    case 'PROCESSING':
      return resumeCardRefund(ledger, run.request, run.record);
  }
}

interface Wanted {
  readonly ref: OrderRef;
  readonly amount: Decimal | undefined;
  readonly reason: string | undefined;
  readonly request: Request;
}

function decide(
  ledger: Ledger,
  viewer: Viewer,
  { amount, reason, request }: Wanted,
  [item, points]: readonly (StoredItem | undefined)[],
  nowMs: number,
): Decision<RefundKind> {
  const order = item === undefined ? undefined : readOrder(item);
  if (order === undefined || !mayRefund(viewer, order)) return { kind: 'ANSWER', failure: NOT_FOUND };
  const issue = amount === undefined ? undefined : priceIssue(['amount'], amount, currency(order.currency));
  if (issue !== undefined) return { kind: 'ANSWER', failure: invalidWith(issue) };
  const objection = refundObjection(order, amount);
  if (objection !== undefined) return refused(order, objection);

  const toMake: RefundToMake = {
    order,
    refund: {
      refundId: ledger.ids.ulid(nowMs),
      amount: amount ?? order.refundable,
      state: 'PENDING',
      source: 'REQUESTED',
      actor: viewer.subject,
      createdAtMs: nowMs,
      tries: 0,
      ...(reason === undefined ? {} : { reason }),
    },
    actor: viewer.subject,
    nowMs,
    pointBalance: balanceOf(points),
  };
  const tenant = tenantOf(ledger, viewer.tenant);
  switch (order.payment?.method) {
    case 'WALLET':
      return walletRefund(ledger, tenant, toMake);
    case 'CASH':
      return cashRefund(ledger, tenant, toMake);
    case 'CHECKOUT':
      return claimCardRefund(ledger, tenant, request, toMake);
    case undefined:
      return { kind: 'ANSWER', failure: CONFLICT };
  }
}

function refused(order: Order, objection: RefundObjection): Decision<RefundKind> {
  const { accountId, orderId, state } = order;
  switch (objection) {
    case 'NOT_REFUNDABLE':
      return { kind: 'REFUSE', outcome: { kind: 'OrderNotRefundable', accountId, orderId, state } };
    case 'DISPUTED':
      return { kind: 'REFUSE', outcome: { kind: 'OrderDisputed' } };
    case 'EXCEEDS':
      return { kind: 'REFUSE', outcome: exceeds(order) };
    case 'TOO_MANY':
      return {
        kind: 'ANSWER',
        failure: invalid(['orderId'], 'too_many_refunds', 'the order has as many refunds as one can'),
      };
  }
}

/** What may still be refunded: never below zero, though a dashboard's refunds may have taken it there. */
function exceeds({ refundable, currency: code }: Order): Stored<'RefundExceedsRefundable'> {
  const left = refundable.gt(ZERO) ? refundable : ZERO;
  return { kind: 'RefundExceedsRefundable', refundable: formatDecimal(left, currency(code).scale) };
}
