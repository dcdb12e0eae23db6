import { type Posting, reversed } from '../entry.ts';
import { type Decimal, ZERO, add, subtract } from '../money.ts';
import { type OrderPatch, note, touch } from '../orders/order-changes.ts';
import { isFull } from '../orders/order-size.ts';
import type { Order, Refund, SurplusPayment, SurplusRefund, TransitionCause } from '../orders/order.ts';
import { surplusReturn } from './provider-disputes.ts';
import {
  type FactDecision,
  type Occasion,
  amountOfMinor,
  factEntry,
  happening,
  mismatch,
  stale,
} from './provider-facts.ts';
import { type RefundFacts, isPassed } from './provider-refunds.ts';
import { countedAside, surplusRefundAside } from './refunds-aside.ts';

/**
 * What a refund of a surplus payment does: it touches neither `refundable` nor the state (docs/DESIGN.md §8).
 * @param kept what is kept of this very refund beside the order, which was full
 */
export function applySurplusRefund(
  order: Order,
  facts: RefundFacts,
  kept: Refund | undefined,
  occasion: Occasion,
): FactDecision {
  const surplus = order.surplus.find(({ paymentId }) => paymentId === facts.paymentId);
  const amount = amountOfMinor(facts.amountMinor, facts.currency);
  if (surplus === undefined || amount === undefined || facts.currency !== order.currency)
    return mismatch('another currency than the order');
  const { providerRefundId, state } = facts;
  const listed = surplus.refunds.find((refund) => refund.providerRefundId === providerRefundId);
  const known = listed ?? kept;
  if (known !== undefined && isPassed(known.state, state)) return stale(`the refund is ${known.state}`);
  if (known !== undefined && !known.amount.eq(amount)) return mismatch('another amount than the refund');
  const told: SurplusRefund = { providerRefundId, amount, state };
  const { moves, refunded, cause } = effectOf(order, surplus, known, told);
  const isAside = listed === undefined && (kept !== undefined || isFull(order));
  const others = surplus.refunds.filter((refund) => refund !== listed);
  const after: SurplusPayment = isAside
    ? { ...surplus, refunded, refunds: others, aside: toldAside(surplus, kept, told) }
    : { ...surplus, refunded, refunds: [...others, told] };
  const patch: OrderPatch = {
    ...(isAside && kept === undefined ? { aside: countedAside(order) } : {}),
    surplus: order.surplus.map((other) => (other.paymentId === after.paymentId ? after : other)),
  };
  const detail = `surplus payment ${surplus.paymentId}`;
  return {
    kind: 'CHANGE',
    before: order,
    after:
      cause === undefined
        ? touch(order, occasion.atMs, patch)
        : note(order, happening(cause, occasion, detail), patch),
    entry: factEntry(order, 'REFUND', moves, occasion, { providerId: providerRefundId }),
    ...(isAside ? { aside: surplusRefundAside(surplus.paymentId, told, occasion.atMs) } : {}),
    // Nothing gives it back by itself any more: somebody has to.
    ...(state === 'FAILED' ? { alerts: ['SurplusPayment'] } : {}),
  };
}

/** What the payment says of its refunds that have items of their own. */
function toldAside(
  { aside }: SurplusPayment,
  kept: Refund | undefined,
  told: SurplusRefund,
): NonNullable<SurplusPayment['aside']> {
  const before = kept === undefined ? { count: 0, pending: ZERO } : { count: 1, pending: pendingOf(kept) };
  // An earlier release kept it aside without saying so here.
  const { count, pending } = aside ?? before;
  return {
    count: kept === undefined ? count + 1 : count,
    pending: add(subtract(pending, kept === undefined ? ZERO : pendingOf(kept)), pendingOf(told)),
  };
}

function pendingOf({ state, amount }: SurplusRefund | Refund): Decimal {
  return state === 'PENDING' ? amount : ZERO;
}

interface Effect {
  readonly moves: readonly Posting[];
  readonly refunded: SurplusPayment['refunded'];
  readonly cause?: TransitionCause;
}

function effectOf(
  order: Order,
  { refunded }: SurplusPayment,
  known: Pick<SurplusRefund, 'state'> | undefined,
  { amount, state }: SurplusRefund,
): Effect {
  const posting = surplusReturn(order, amount);
  switch (state) {
    case 'PENDING':
      return { moves: [], refunded };
    case 'SUCCEEDED':
      return { moves: [posting], refunded: add(refunded, amount), cause: 'REFUND_SUCCEEDED' };
    case 'FAILED':
      return known?.state === 'SUCCEEDED'
        ? { moves: reversed([posting]), refunded: subtract(refunded, amount), cause: 'REFUND_FAILED' }
        : { moves: [], refunded, cause: 'REFUND_FAILED' };
  }
}
