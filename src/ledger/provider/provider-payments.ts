import type { PaymentBooking } from './event-item.ts';
import { ledgerAccount } from '../entry.ts';
import { ZERO } from '../money.ts';
import { note } from '../orders/order-changes.ts';
import { paymentPosting } from '../orders/order-postings.ts';
import { isPaid } from '../orders/order-states.ts';
import { type Attempt, type Order, surplusStepName } from '../orders/order.ts';
import { newSteps, payOrder } from '../orders/payments.ts';
import { withNews } from './provider-attempts.ts';
import { type Change, type Occasion, factEntry, happening } from './provider-facts.ts';

/** Money of the order's own that arrived, its amount judged already. */
export interface Arrival {
  readonly attempt: Attempt;
  /** The payment's id, or its session's where nothing was due: what books it once. */
  readonly paymentId: string;
}

/**
 * The first own payment of an unpaid order pays it, from whatever state; any other is surplus: booked apart, and given
 * back by a step (docs/DESIGN.md §7, §8).
 */
export function receivePayment(order: Order, arrival: Arrival, occasion: Occasion): Change {
  return isPaid(order.state)
    ? receiveSurplus(order, arrival, occasion)
    : receiveFirst(order, arrival, occasion);
}

function receiveFirst(order: Order, { attempt, paymentId }: Arrival, occasion: Occasion): Change {
  const learnt: Order = {
    ...order,
    attempts: withNews(order, attempt, { paymentId, closed: true }),
    slip: undefined,
  };
  const after = payOrder(
    learnt,
    'MONEY_ARRIVED',
    { method: 'CHECKOUT', atMs: occasion.atMs, paymentId },
    occasion.stepNames.afterPaid(order),
    happening('PAYMENT_RECEIVED', occasion),
  );
  return {
    kind: 'CHANGE',
    before: order,
    after,
    booking: bookingOf(order, 'ORDER', { attempt, paymentId }, occasion),
    entry: factEntry(
      order,
      order.kind === 'TOP_UP' ? 'TOP_UP' : 'PAYMENT',
      [paymentPosting(order, ledgerAccount.stripe)],
      occasion,
      { providerId: paymentId },
    ),
  };
}

function receiveSurplus(order: Order, { attempt, paymentId }: Arrival, occasion: Occasion): Change {
  const after = note(order, happening('SURPLUS_RECEIVED', occasion, paymentId), {
    attempts: withNews(order, attempt, { paymentId, closed: true }),
    surplus: [...order.surplus, { paymentId, amount: order.amount, refunded: ZERO, refunds: [] }],
    steps: [...order.steps, ...newSteps(order, [surplusStepName(paymentId)], occasion.atMs)],
  });
  const posting = {
    debit: ledgerAccount.stripe,
    credit: ledgerAccount.surplus(order.orderId),
    asset: order.currency,
    amount: order.amount,
  };
  return {
    kind: 'CHANGE',
    before: order,
    after,
    booking: bookingOf(order, 'SURPLUS', { attempt, paymentId }, occasion),
    entry: factEntry(order, 'SURPLUS', [posting], occasion, { providerId: paymentId }),
    alerts: ['SurplusPayment'],
  };
}

function bookingOf(
  { tenant, accountId, orderId, currency, amount }: Order,
  bookedAs: PaymentBooking['bookedAs'],
  { attempt, paymentId }: Arrival,
  { atMs }: Occasion,
): PaymentBooking {
  return { tenant, accountId, orderId, paymentId, bookedAs, attempt: attempt.number, currency, amount, atMs };
}
