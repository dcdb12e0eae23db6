import { isoInstant } from '../ledger/kernel/clock.ts';
import { currency } from '../ledger/kernel/currencies.ts';
import { type Decimal, formatDecimal } from '../ledger/kernel/money.ts';
import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { type Order, findRefund, isDisputed } from '../ledger/model/orders/order.ts';
import type { OrderState } from '../ledger/model/orders/order-states.ts';
import { refundableNow } from '../ledger/model/orders/order-view.ts';
import type { FollowUpTrigger } from './follow-up.ts';

/**
 * The message to a merchant's server (docs/FOLLOW-UPS.md). Fields may be added; none is renamed, removed or given another
 * meaning. No personal data: a merchant who needs more reads the order by its id.
 */
export interface MerchantPayload {
  readonly type: 'order.paid' | 'order.refunded' | 'order.disputed';
  /** When it happened; ISO 8601. */
  readonly timestamp: string;
  /** The order at this delivery: of two messages the one with the higher version is the newer. */
  readonly data: {
    /** The public id, as GraphQL gives it. */
    readonly orderId: string;
    readonly version: number;
    readonly state: OrderState;
    readonly merchantId: string;
    readonly currency: string;
    /** Decimals with the full scale of the currency, `"480"` or `"4.80"`, or finer if the provider's amount was. */
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

/** Throws RangeError for what no merchant gets a message about: a top-up, an overpayment. Asking is a bug. */
export function merchantPayload(order: Order, trigger: FollowUpTrigger): MerchantPayload {
  const { tenant, accountId, orderId, merchantId } = order;
  if (merchantId === undefined) throw new RangeError('a top-up has no merchant');
  const { scale } = currency(order.currency);
  const amountOf = (amount: Decimal): string => formatDecimal(amount, scale);
  const message = (
    type: MerchantPayload['type'],
    atMs: number,
    about: Pick<MerchantPayload['data'], 'refund' | 'dispute'> = {},
  ): MerchantPayload => ({
    type,
    timestamp: isoInstant(atMs),
    data: {
      orderId: encodeNodeId('Order', tenant, accountId, orderId),
      version: order.version,
      state: order.state,
      merchantId,
      currency: order.currency,
      amount: amountOf(order.amount),
      refundedAmount: amountOf(order.refunded),
      refundPendingAmount: amountOf(order.refundPending),
      refundableAmount: amountOf(refundableNow(order)),
      disputed: isDisputed(order),
      ...about,
    },
  });
  switch (trigger.kind) {
    case 'paid':
      return message('order.paid', order.payment?.atMs ?? order.updatedAtMs);
    case 'refunded': {
      const { amount, state, createdAtMs } = found(findRefund(order, trigger.refundId), 'refund');
      const refundId = encodeNodeId('Refund', tenant, accountId, orderId, trigger.refundId);
      return message('order.refunded', createdAtMs, {
        refund: { refundId, amount: amountOf(amount), state },
      });
    }
    case 'disputed': {
      const { disputeId } = trigger;
      const { amount, status } = found(
        order.disputes.find((one) => one.disputeId === disputeId),
        'dispute',
      );
      // A dispute has no time of its own. Its opening is on the timeline, unless that was full.
      const opened = order.timeline.findLast(({ cause }) => cause === 'DISPUTE_OPENED');
      const dispute = { disputeId, amount: amountOf(amount), status };
      return message('order.disputed', opened?.atMs ?? order.updatedAtMs, { dispute });
    }
    case 'overpayment':
      throw new RangeError('merchants are told of their own money alone');
  }
}

function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new RangeError(`no ${what} of this id`);
  return value;
}
