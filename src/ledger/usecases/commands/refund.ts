import { z } from 'zod';
import { mayRefund } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { currency } from '../../kernel/currencies.ts';
import { balanceKey, orderKey } from '../../kernel/keys.ts';
import { type Decimal, ZERO, formatDecimal } from '../../kernel/money.ts';
import type { Order } from '../../model/orders/order.ts';
import {
  type Answered,
  CONFLICT,
  NOT_FOUND,
  type ProviderFailure,
  type Stored,
  invalid,
} from '../../model/outcomes.ts';
import { type RefundObjection, refundObjection } from '../../model/orders/refunds.ts';
import { answerRun } from '../provider-calls/resume-request.ts';
import { type RefundKind, type RefundToMake, cardRefund, cashRefund, walletRefund } from './decide-refund.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { type ClaimFailure, type Decision, runGuardedCommand } from '../runtime/guarded-command.ts';
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
import { orderFor } from '../runtime/read-order.ts';

export type RefundOutcome = Answered<RefundKind> | ProviderFailure;

const inputSchema = z.strictObject({
  orderId: z.string(),
  amount: optional(decimalText),
  reason: optional(shortText(200)),
});

/**
 * Returns a paid order's money to where it came from, in full or in part: a wallet order to the wallet, even past its
 * cap; a card order at Stripe; a top-up out of the wallet first. Without an amount, all that remains.
 */
export async function refund(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: unknown,
): Promise<RefundOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { orderId, amount, reason } = parsed.value;
  const ref = orderRefOf(viewer.tenant, orderId);
  if (ref === undefined) return NOT_FOUND;
  const run = await runGuardedCommand<RefundKind, ClaimFailure>(ledger, viewer, {
    operation: 'refund',
    key,
    input: { order: ref, amount, reason },
    reads: [orderKey(ref), balanceKey({ ...ref, asset: 'POINT' })],
    decide: (found, nowMs, request) => decide(ledger, viewer, { amount, reason, request }, found, nowMs),
  });
  return answerRun(ledger, run);
}

interface Wanted {
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
  const order = orderFor(viewer, item, mayRefund);
  if (order === undefined) return { kind: 'ANSWER', failure: NOT_FOUND };
  const issue = amount === undefined ? undefined : priceIssue(['amount'], amount, currency(order.currency));
  if (issue !== undefined) return { kind: 'ANSWER', failure: invalidWith(issue) };
  const objection = refundObjection(order, amount);
  if (objection !== undefined) return refused(order, objection);

  const toMake: RefundToMake = {
    tenant: tenantOf(ledger, viewer.tenant),
    request,
    order,
    refund: {
      tenant: order.tenant,
      accountId: order.accountId,
      orderId: order.orderId,
      refundId: ledger.ids.ulid(nowMs),
      rev: 0,
      amount: amount ?? order.refundable,
      state: 'PENDING',
      source: 'REQUESTED',
      actor: viewer.subject,
      createdAtMs: nowMs,
      ...(reason === undefined ? {} : { reason }),
    },
    actor: viewer.subject,
    nowMs,
    pointBalance: balanceOf(points),
  };
  switch (order.payment?.method) {
    case 'WALLET':
      return walletRefund(ledger, toMake);
    case 'CASH':
      return cashRefund(ledger, toMake);
    case 'CHECKOUT':
      return cardRefund(ledger, toMake);
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
