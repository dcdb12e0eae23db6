import { type Decimal, add, subtract } from '../../kernel/money.ts';
import { type TransitionDetails, type OrderPatch, move, note } from './order-changes.ts';
import { type Order, type Refund, findRefund, isDisputed, stepsDone } from './order.ts';
import { hasRoomForRefund } from './order-size.ts';
import { furtherSteps } from './payments.ts';

/** Why a refund that we are asked for can't be made; undefined if it can (docs/DESIGN.md §7, I4). */
export type RefundObjection = 'NOT_REFUNDABLE' | 'DISPUTED' | 'EXCEEDS' | 'TOO_MANY';

/** @param amount what is asked for; undefined asks for all that remains */
export function refundObjection(order: Order, amount: Decimal | undefined): RefundObjection | undefined {
  if (order.state !== 'PAID' && order.state !== 'CONFIRMED') return 'NOT_REFUNDABLE';
  if (isDisputed(order)) return 'DISPUTED';
  if (!order.refundable.gt(0) || (amount ?? order.refundable).gt(order.refundable)) return 'EXCEEDS';
  return hasRoomForRefund(order) ? undefined : 'TOO_MANY';
}

/** Reserves the amount of a refund whose success somebody else will tell: the provider. */
export function beginRefund(order: Order, refund: Refund, what: Omit<TransitionDetails, 'cause'>): Order {
  return note(
    order,
    { ...what, cause: 'REFUND_STARTED', detail: what.detail ?? refund.reason },
    {
      refunds: [...order.refunds, { ...refund, state: 'PENDING' }],
      refundPending: add(order.refundPending, refund.amount),
      refundable: subtract(order.refundable, refund.amount),
    },
  );
}

/** A refund that is done with the transaction that books it: to a wallet, in cash, or as the dashboard reports it. */
export function completeRefundSynchronously(
  order: Order,
  refund: Refund,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
): Order {
  return succeeded(order, { ...refund, state: 'SUCCEEDED' }, stepNames, what, {
    refunds: [...order.refunds, { ...refund, state: 'SUCCEEDED' }],
    refunded: add(order.refunded, refund.amount),
    refundable: subtract(order.refundable, refund.amount),
  });
}

/** A pending refund has succeeded. Throws RangeError if it isn't pending. */
export function succeedRefund(
  order: Order,
  refundId: string,
  settled: Partial<Refund>,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
): Order {
  const refund = inState(order, refundId, 'PENDING');
  const after: Refund = { ...refund, ...settled, state: 'SUCCEEDED', lease: undefined };
  return succeeded(order, after, stepNames, what, {
    refunds: replaced(order, after),
    refunded: add(order.refunded, refund.amount),
    refundPending: subtract(order.refundPending, refund.amount),
  });
}

/**
 * A refund has failed: its amount may be refunded again, and an order that it had made REFUNDED is paid once more.
 * Released once: throws RangeError if it has failed before.
 */
export function failRefund(
  order: Order,
  refundId: string,
  settled: Partial<Refund>,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
  patch: OrderPatch = {},
): Order {
  const refund = findRefund(order, refundId);
  if (refund === undefined || refund.state === 'FAILED') throw new RangeError('no refund that could fail');
  const after: Refund = { ...refund, ...settled, state: 'FAILED', lease: undefined };
  const wasPending = refund.state === 'PENDING';
  const released: OrderPatch = {
    ...patch,
    refunds: replaced(order, after),
    refundable: add(order.refundable, refund.amount),
    steps: [...order.steps, ...furtherSteps(order, stepNames, what.atMs)],
    ...(wasPending
      ? { refundPending: subtract(order.refundPending, refund.amount) }
      : { refunded: subtract(order.refunded, refund.amount) }),
  };
  const trigger: TransitionDetails = {
    ...what,
    cause: 'REFUND_FAILED',
    detail: what.detail ?? after.failureReason,
  };
  const stillInFull = subtract(order.refunded, refund.amount).gte(order.amount);
  if (order.state !== 'REFUNDED' || wasPending || stillInFull) return note(order, trigger, released);
  return move(order, 'REFUND_UNDONE', stepsDone(order) ? 'CONFIRMED' : 'PAID', trigger, released);
}

/** Replaces one refund of an order by a later version of itself. */
export function replaced(order: Order, refund: Refund): readonly Refund[] {
  return order.refunds.map((other) => (other.refundId === refund.refundId ? refund : other));
}

function succeeded(
  order: Order,
  refund: Refund,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
  patch: OrderPatch & { readonly refunded: Decimal },
): Order {
  const trigger: TransitionDetails = {
    ...what,
    cause: 'REFUND_SUCCEEDED',
    detail: what.detail ?? refund.reason,
  };
  const withSteps = { ...patch, steps: [...order.steps, ...furtherSteps(order, stepNames, what.atMs)] };
  const inFull = patch.refunded.gte(order.amount);
  const canClose = order.state === 'PAID' || order.state === 'CONFIRMED';
  if (inFull && canClose) return move(order, 'REFUNDED_IN_FULL', 'REFUNDED', trigger, withSteps);
  return note(order, trigger, withSteps);
}

function inState(order: Order, refundId: string, state: Refund['state']): Refund {
  const refund = findRefund(order, refundId);
  if (refund?.state !== state) throw new RangeError(`no ${state} refund of this id`);
  return refund;
}
