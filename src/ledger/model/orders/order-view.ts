import { type Decimal, ZERO } from '../../kernel/money.ts';
import { hasRoomForAttempt } from './order-size.ts';
import { allows } from './order-states.ts';
import {
  type Order,
  type OrderPayment,
  type PaymentPage,
  hasClaimedAttempt,
  isDisputed,
  openAttempt,
} from './order.ts';

/*
 * What clients are told of an order beside its facts: what the table of states allows now, so that no client copies the
 * table (docs/DESIGN.md §7).
 */

/** How the order can be paid now; nothing while somebody is asking the provider for a session. */
export function payableWith(order: Order, nowMs: number): readonly OrderPayment['method'][] {
  if (hasClaimedAttempt(order)) return [];
  const byWallet =
    order.kind === 'PURCHASE' && allows('WALLET_CHARGE', order.state) && openAttempt(order) === undefined;
  return [
    ...(byWallet ? ['WALLET' as const] : []),
    ...(byCheckout(order, nowMs) ? ['CHECKOUT' as const] : []),
  ];
}

/** An open session is paid on its page; without one another may be opened, up to the number an order may have. */
function byCheckout(order: Order, nowMs: number): boolean {
  if (order.state === 'SESSION_CREATED') return paymentPage(order, nowMs) !== undefined;
  if (openAttempt(order) !== undefined) return false;
  return allows('SESSION_MADE', order.state) && hasRoomForAttempt(order);
}

export function isCancelable(order: Order): boolean {
  return allows('CANCEL', order.state) && !hasClaimedAttempt(order);
}

/**
 * What can be refunded now. Nothing while a dispute is open or lost: the provider refuses, and the dispute decides where the
 * money goes. Below zero where more was given back than was paid.
 */
export function refundableNow(order: Order): Decimal {
  return isDisputed(order) && order.refundable.gt(ZERO) ? ZERO : order.refundable;
}

/** Where the customer goes now: the session's page, or the voucher of a waiting payment; undefined once it has expired. */
export function paymentPage(order: Order, nowMs: number): PaymentPage | undefined {
  const page = order.state === 'PENDING_PAYMENT' ? order.voucher : sessionPage(order);
  return page !== undefined && page.expiresAtMs > nowMs ? page : undefined;
}

function sessionPage(order: Order): PaymentPage | undefined {
  const attempt = order.state === 'SESSION_CREATED' ? openAttempt(order) : undefined;
  if (attempt?.state !== 'OPEN' || attempt.url === undefined) return undefined;
  return { url: attempt.url, expiresAtMs: attempt.expiresAtMs };
}
