import { type StoredItem, readMap, toAttributes } from '../attributes.ts';
import { type OrderRef, refundKey } from '../keys.ts';
import { type Decimal, ZERO, add, subtract } from '../money.ts';
import { readRefund, refundMap } from '../orders/order-parts.ts';
import { isFull } from '../orders/order-size.ts';
import type { Order, Refund, RefundsAside, SurplusRefund } from '../orders/order.ts';
import type { PlanPart } from '../plan.ts';
import { type FactDecision, PROVIDER_ACTOR } from './provider-facts.ts';
import { type RefundFacts, knownRefund } from './provider-refunds.ts';

/*
 * At the provider a payment can be refunded any number of times, in ever smaller parts, and each has to be booked once. A
 * full order doesn't list what is new to it: such a refund has an item of its own, by the provider's id, which is written
 * in the transaction that writes the order. So `rev`, which every write of the order conditions on, guards both.
 */

const NONE_ASIDE: RefundsAside = { count: 0, succeeded: ZERO, pending: ZERO };

/** Writes the refund as it is now, whatever its item said before: the order's condition is its own. */
export function putRefundAside({ tenant, accountId, orderId }: OrderRef, refund: Refund): PlanPart {
  const { providerRefundId } = refund;
  if (providerRefundId === undefined) throw new RangeError('only what the provider made is kept aside');
  const Item = toAttributes({
    ...refundKey(providerRefundId),
    tenant,
    account: accountId,
    order: orderId,
    refund: refundMap(refund),
  });
  return { items: [{ role: 'refund', item: { Put: { Item } } }] };
}

/** The refund that an item holds. Throws MalformedItemError. */
export function readRefundAside(item: StoredItem): Refund {
  return readRefund(readMap(item, 'refund'));
}

/**
 * Judges a refund of the order's own payment with what is kept aside of it put back where it would be, and takes it out
 * again: what is aside stays there, and a full order takes up nothing new.
 * @param kept what is aside of this very refund
 */
export function decideAside(
  order: Order,
  facts: RefundFacts,
  kept: Refund | undefined,
  decide: (order: Order) => FactDecision,
): FactDecision {
  if (kept === undefined && !(isFull(order) && knownRefund(order, facts) === undefined)) return decide(order);
  const decision = decide(kept === undefined ? order : takenBack(order, kept));
  if (decision.kind !== 'CHANGE') return decision;
  const told = decision.after.refunds.find((refund) => refund.providerRefundId === facts.providerRefundId);
  if (told === undefined) throw new RangeError('a refund that was told of is in its order');
  return { ...decision, before: order, after: laidAside(decision.after, told), aside: told };
}

/** A refund of a surplus payment as its item keeps it: its payment has the sum, so that it is only counted. */
export function surplusRefundAside(paymentId: string, refund: SurplusRefund, atMs: number): Refund {
  return {
    ...refund,
    refundId: refund.providerRefundId,
    paymentId,
    source: 'DASHBOARD',
    actor: PROVIDER_ACTOR,
    createdAtMs: atMs,
    tries: 0,
  };
}

export function countedAside({ aside = NONE_ASIDE }: Order): RefundsAside {
  return { ...aside, count: aside.count + 1 };
}

function takenBack(order: Order, refund: Refund): Order {
  const { count, succeeded, pending } = order.aside ?? NONE_ASIDE;
  return {
    ...order,
    refunds: [...order.refunds, refund],
    aside: {
      count: count - 1,
      succeeded: subtract(succeeded, amountIf(refund, 'SUCCEEDED')),
      pending: subtract(pending, amountIf(refund, 'PENDING')),
    },
  };
}

function laidAside(order: Order, refund: Refund): Order {
  const { count, succeeded, pending } = order.aside ?? NONE_ASIDE;
  return {
    ...order,
    refunds: order.refunds.filter((other) => other !== refund),
    aside: {
      count: count + 1,
      succeeded: add(succeeded, amountIf(refund, 'SUCCEEDED')),
      pending: add(pending, amountIf(refund, 'PENDING')),
    },
  };
}

function amountIf({ state, amount }: Refund, wanted: Refund['state']): Decimal {
  return state === wanted ? amount : ZERO;
}
