import { isoInstant } from '../ledger/kernel/clock.ts';
import { currency } from '../ledger/kernel/currencies.ts';
import { type Decimal, formatDecimal } from '../ledger/kernel/money.ts';
import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { type Order, findRefund, isDisputed } from '../ledger/model/orders/order.ts';
import type { OrderState } from '../ledger/model/orders/order-states.ts';
import type { FollowUpTrigger } from './follow-up.ts';

/**
 * What a merchant's server is told (docs/FOLLOW-UPS.md). Fields may be added; none is renamed, removed or given another
 * meaning. No personal data: who wants more reads the order by its id.
 */
export interface MerchantPayload {
  readonly type: 'order.paid' | 'order.refunded' | 'order.disputed';
  /** When it happened; ISO 8601. */
  readonly timestamp: string;
  /** The order as it is at this delivery: of two messages the one with the higher version is the newer. */
  readonly data: {
    /** The public id, as GraphQL gives it. */
    readonly orderId: string;
    readonly version: number;
    readonly state: OrderState;
    readonly merchantId: string;
    readonly currency: string;
    /** Decimals with the full scale of the currency, `"480"` or `"4.80"`, or as fine as the provider told of it. */
    readonly amount: string;
    readonly refundedAmount: string;
    readonly refundPendingAmount: string;
    readonly refundableAmount: string;
    readonly disputed: boolean;
    /** order.refunded: the refund that this is about. */
    readonly refund?: { readonly refundId: string; readonly amount: string; readonly state: string };
    /** order.disputed: the dispute that this is about. */
    readonly dispute?: { readonly disputeId: string; readonly amount: string; readonly status: string };
  };
}

/** Throws RangeError for what no merchant is told of: a top-up, an overpayment. Asking is a bug. */
export function merchantPayload(order: Order, trigger: FollowUpTrigger): MerchantPayload {
  const { tenant, accountId, orderId, merchantId } = order;
  if (merchantId === undefined) throw new RangeError('a top-up has no merchant');
  const { scale } = currency(order.currency);
  const amountOf = (amount: Decimal): string => formatDecimal(amount, scale);
  const data = {
    orderId: encodeNodeId('Order', tenant, accountId, orderId),
    version: order.version,
    state: order.state,
    merchantId,
    currency: order.currency,
    amount: amountOf(order.amount),
    refundedAmount: amountOf(order.refunded),
    refundPendingAmount: amountOf(order.refundPending),
    refundableAmount: amountOf(order.refundable),
    disputed: isDisputed(order),
  };
  switch (trigger.kind) {
    case 'paid':
      return { type: 'order.paid', timestamp: isoInstant(order.payment?.atMs ?? order.updatedAtMs), data };
    case 'refunded': {
      const refund = findRefund(order, trigger.refundId);
      if (refund === undefined) throw new RangeError('no refund of this id');
      const refundId = encodeNodeId('Refund', tenant, accountId, orderId, refund.refundId);
      return {
        type: 'order.refunded',
        timestamp: isoInstant(refund.createdAtMs),
        data: { ...data, refund: { refundId, amount: amountOf(refund.amount), state: refund.state } },
      };
    }
    case 'disputed': {
      const dispute = order.disputes.find(({ disputeId }) => disputeId === trigger.disputeId);
      if (dispute === undefined) throw new RangeError('no dispute of this id');
      const { disputeId, amount, status } = dispute;
      return {
        type: 'order.disputed',
        timestamp: isoInstant(disputedAtMs(order)),
        data: { ...data, dispute: { disputeId, amount: amountOf(amount), status } },
      };
    }
    case 'overpayment':
      throw new RangeError('merchants are told of their own money alone');
  }
}

/** A dispute keeps no time of its own; its opening is on the timeline, unless that was full. */
function disputedAtMs(order: Order): number {
  return order.timeline.findLast(({ cause }) => cause === 'DISPUTE_OPENED')?.atMs ?? order.updatedAtMs;
}
