import { isoInstant } from '../ledger/kernel/clock.ts';
import { currency } from '../ledger/kernel/currencies.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { type Decimal, formatDecimal } from '../ledger/kernel/money.ts';
import { encodeNodeId } from '../ledger/items/node-ids.ts';
import type { FollowUpTrigger } from '../ledger/model/orders/follow-up-trigger.ts';
import { type Order, type OrderPayment, type Refund, isDisputed } from '../ledger/model/orders/order.ts';
import type { MetadataEntry } from '../ledger/model/orders/order-metadata.ts';
import type { OrderState } from '../ledger/model/orders/order-states.ts';
import { refundableNow } from '../ledger/model/orders/order-view.ts';

/** Raised when a field is renamed, removed or given another meaning; not when one is added. */
const PAYLOAD_VERSION = 1;

/** What is told after each trigger; of an overpayment nothing, since it never was the merchant's money. */
const TYPES = {
  paid: 'order.paid',
  failed: 'order.failed',
  expired: 'order.expired',
  canceled: 'order.canceled',
  refunded: 'order.refunded',
  'refund-failed': 'order.refund_failed',
  disputed: 'order.disputed',
  'dispute-won': 'order.dispute_won',
  'dispute-lost': 'order.dispute_lost',
} as const satisfies Readonly<Record<Exclude<FollowUpTrigger['kind'], 'overpayment'>, string>>;

/**
 * The message to a merchant's server (docs/FOLLOW-UPS.md). It tells what the merchant may read over GraphQL, and nothing of
 * the customer beside the account's name.
 */
export interface MerchantPayload {
  readonly type: (typeof TYPES)[keyof typeof TYPES];
  readonly payloadVersion: typeof PAYLOAD_VERSION;
  /** When it happened; ISO 8601. */
  readonly timestamp: string;
  /** The order at this delivery: of two messages the one with the higher version is the newer. */
  readonly data: {
    /** The public id, as GraphQL gives it. */
    readonly orderId: string;
    readonly version: number;
    readonly state: OrderState;
    readonly merchantId: string;
    readonly accountId: string;
    readonly currency: string;
    /** Decimals with the full scale of the currency, `"480"` or `"4.80"`, or finer if the provider's amount was. */
    readonly amount: string;
    readonly refundedAmount: string;
    readonly refundPendingAmount: string;
    readonly refundableAmount: string;
    readonly disputed: boolean;
    /** What was written down with the order when it was opened, where anything was. */
    readonly reference?: string;
    readonly metadata?: Readonly<Record<string, string>>;
    readonly lines: readonly PayloadLine[];
    readonly createdAt: string;
    /** Once it was paid: how, when, and by which payment of the provider. */
    readonly method?: OrderPayment['method'];
    readonly paidAt?: string;
    readonly providerReference?: string;
    /** order.refunded, order.refund_failed: the refund that this is about. */
    readonly refund?: {
      readonly refundId: string;
      readonly amount: string;
      readonly currency: string;
      readonly state: string;
      readonly reason?: string;
      readonly failureReason?: string;
    };
    /** order.disputed, order.dispute_won, order.dispute_lost: the dispute that this is about. */
    readonly dispute?: {
      readonly disputeId: string;
      readonly amount: string;
      readonly currency: string;
      readonly status: string;
      readonly reason?: string;
      readonly dueBy?: string;
    };
  };
}

interface PayloadLine {
  readonly sku?: string;
  readonly name: string;
  readonly quantity: number;
  readonly unitPrice: string;
  readonly amount: string;
}

/**
 * Throws RangeError for what no merchant gets a message about: a top-up, an overpayment. Asking is a bug.
 * @param refund the one that the trigger names, if it names one
 */
export function merchantPayload(
  order: Order,
  trigger: FollowUpTrigger,
  metadata: readonly MetadataEntry[],
  refund?: Refund,
): MerchantPayload {
  const { tenant, accountId, orderId, merchantId, payment, reference } = order;
  if (merchantId === undefined) throw new RangeError('a top-up has no merchant');
  if (trigger.kind === 'overpayment') throw new RangeError('merchants are told of their own money alone');
  const amountOf = amountIn(order);
  return {
    type: TYPES[trigger.kind],
    payloadVersion: PAYLOAD_VERSION,
    timestamp: isoInstant(trigger.kind === 'paid' ? (payment?.atMs ?? order.updatedAtMs) : trigger.atMs),
    data: {
      orderId: encodeNodeId('Order', tenant, accountId, orderId),
      version: order.version,
      state: order.state,
      merchantId,
      accountId,
      currency: order.currency,
      amount: amountOf(order.amount),
      refundedAmount: amountOf(order.refunded),
      refundPendingAmount: amountOf(order.refundPending),
      refundableAmount: amountOf(refundableNow(order)),
      disputed: isDisputed(order),
      ...defined({ reference }),
      ...(metadata.length > 0 && {
        metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
      }),
      lines: order.lines.map(({ sku, name, quantity, unitPrice, amount }) => ({
        ...defined({ sku }),
        name,
        quantity,
        unitPrice: amountOf(unitPrice),
        amount: amountOf(amount),
      })),
      createdAt: isoInstant(order.createdAtMs),
      ...(payment && {
        method: payment.method,
        paidAt: isoInstant(payment.atMs),
        ...defined({ providerReference: payment.paymentId }),
      }),
      ...partOf(order, trigger, refund),
    },
  };
}

/** The refund or dispute that a message is about, as it is now. */
function partOf(
  order: Order,
  trigger: FollowUpTrigger,
  refund: Refund | undefined,
): Pick<MerchantPayload['data'], 'refund' | 'dispute'> {
  const { tenant, accountId, orderId, currency: code } = order;
  const amountOf = amountIn(order);
  if ('refundId' in trigger) {
    const { amount, state, reason, failureReason } = found(refund, 'refund');
    const refundId = encodeNodeId('Refund', tenant, accountId, orderId, trigger.refundId);
    const known = { refundId, amount: amountOf(amount), currency: code, state };
    return { refund: { ...known, ...defined({ reason, failureReason }) } };
  }
  if (!('disputeId' in trigger)) return {};
  const { disputeId } = trigger;
  const { amount, status, reason, dueByMs } = found(
    order.disputes.find((one) => one.disputeId === disputeId),
    'dispute',
  );
  const dueBy = dueByMs === undefined ? undefined : isoInstant(dueByMs);
  const known = { disputeId, amount: amountOf(amount), currency: code, status };
  return { dispute: { ...known, ...defined({ reason, dueBy }) } };
}

function amountIn(order: Order): (amount: Decimal) => string {
  const { scale } = currency(order.currency);
  return (amount) => formatDecimal(amount, scale);
}

function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new RangeError(`no ${what} of this id`);
  return value;
}
