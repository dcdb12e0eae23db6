import { type Decimal, ZERO, add, subtract } from '../../kernel/money.ts';
import { type OrderPatch, type TransitionDetails, move, note, touch } from './order-changes.ts';
import {
  type Lease,
  type Order,
  type Refund,
  type RefundClaim,
  type RefundCounts,
  isDisputed,
  overpaymentOf,
  stepsDone,
} from './order.ts';
import { isPaid } from './order-states.ts';
import { hasRoomForRefund } from './order-size.ts';
import { furtherSteps } from './payments.ts';

/** A refund and its order as a change leaves them: one transaction writes both. */
export interface RefundChange {
  readonly order: Order;
  readonly refund: Refund;
}

/** Why a refund that we are asked for can't be made; undefined if it can (docs/DESIGN.md §7, I4). */
export type RefundObjection = 'NOT_REFUNDABLE' | 'DISPUTED' | 'EXCEEDS' | 'TOO_MANY';

/** @param amount what is asked for; undefined asks for all that remains */
export function refundObjection(order: Order, amount: Decimal | undefined): RefundObjection | undefined {
  if (order.state !== 'PAID' && order.state !== 'CONFIRMED') return 'NOT_REFUNDABLE';
  if (isDisputed(order)) return 'DISPUTED';
  if (!order.refundable.gt(0) || (amount ?? order.refundable).gt(order.refundable)) return 'EXCEEDS';
  return hasRoomForRefund(order) ? undefined : 'TOO_MANY';
}

/**
 * Reserves the amount of a refund whose success somebody else will tell: the provider.
 * @param lease of whoever is going to ask for it; without one it has been made there already
 */
export function beginRefund(
  order: Order,
  refund: Refund,
  what: Omit<TransitionDetails, 'cause'>,
  lease?: Lease,
): RefundChange {
  const { refundId } = refund;
  const begun: Refund = { ...refund, state: 'PENDING' };
  const after = note(
    order,
    { ...what, cause: 'REFUND_STARTED', detail: what.detail ?? refund.reason },
    {
      ...recounted(order, undefined, 'PENDING'),
      refundPending: add(order.refundPending, refund.amount),
      refundable: subtract(order.refundable, refund.amount),
      ...(lease === undefined ? {} : { refundClaims: [...order.refundClaims, { refundId, lease }] }),
    },
  );
  return { order: after, refund: begun };
}

/** A refund that is done with the transaction that books it: to a wallet, in cash, or as the dashboard reports it. */
export function completeRefundSynchronously(
  order: Order,
  refund: Refund,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
): RefundChange {
  return succeeded(order, { ...refund, state: 'SUCCEEDED' }, stepNames, what, {
    ...recounted(order, undefined, 'SUCCEEDED'),
    refunded: add(order.refunded, refund.amount),
    refundable: subtract(order.refundable, refund.amount),
  });
}

/** A pending refund has succeeded. Throws RangeError if it isn't pending. */
export function succeedRefund(
  order: Order,
  refund: Refund,
  settled: Partial<Refund>,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
): RefundChange {
  if (refund.state !== 'PENDING') throw new RangeError('no refund that is pending');
  return succeeded(order, { ...refund, ...settled, state: 'SUCCEEDED' }, stepNames, what, {
    ...recounted(order, 'PENDING', 'SUCCEEDED'),
    refundClaims: unclaimed(order, refund),
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
  refund: Refund,
  settled: Partial<Refund>,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
  patch: OrderPatch = {},
): RefundChange {
  if (refund.state === 'FAILED') throw new RangeError('no refund that could fail');
  const failed: Refund = { ...refund, ...settled, state: 'FAILED' };
  const wasPending = refund.state === 'PENDING';
  const released: OrderPatch = {
    ...patch,
    ...recounted(order, refund.state, 'FAILED'),
    refundClaims: unclaimed(order, refund),
    refundable: add(order.refundable, refund.amount),
    steps: [...order.steps, ...furtherSteps(order, stepNames, what.atMs)],
    ...(wasPending
      ? { refundPending: subtract(order.refundPending, refund.amount) }
      : { refunded: subtract(order.refunded, refund.amount) }),
  };
  const trigger: TransitionDetails = {
    ...what,
    cause: 'REFUND_FAILED',
    detail: what.detail ?? failed.failureReason,
  };
  const stillInFull = subtract(order.refunded, refund.amount).gte(order.amount);
  const after =
    order.state !== 'REFUNDED' || wasPending || stillInFull
      ? note(order, trigger, released)
      : move(order, 'REFUND_UNDONE', stepsDone(order) ? 'CONFIRMED' : 'PAID', trigger, released);
  return { order: after, refund: failed };
}

/** It moved nothing, but what was told before and arrives later must find that it has failed. */
export function recordFailedRefund(
  order: Order,
  refund: Refund,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
): RefundChange {
  const trigger: TransitionDetails = { ...what, cause: 'REFUND_FAILED', detail: refund.failureReason };
  const after = note(order, trigger, {
    ...recounted(order, undefined, 'FAILED'),
    steps: [...order.steps, ...furtherSteps(order, stepNames, what.atMs)],
  });
  return { order: after, refund };
}

/** The provider has made a refund that we asked for: nobody holds it any more, and its success is waited for. */
export function awaitRefund(
  order: Order,
  refund: Refund,
  providerRefundId: string,
  atMs: number,
): RefundChange {
  return {
    order: touch(order, atMs, { refundClaims: unclaimed(order, refund) }),
    refund: { ...refund, providerRefundId },
  };
}

/** What counts refunds, after one of them came into a state; no state: it isn't there, or is no more. */
export function recounted(
  { refundCount, pendingRefundCount }: RefundCounts,
  before: Refund['state'] | undefined,
  after: Refund['state'] | undefined,
): RefundCounts {
  const one = (is: boolean): number => (is ? 1 : 0);
  return {
    refundCount: refundCount + one(after !== undefined) - one(before !== undefined),
    pendingRefundCount: pendingRefundCount + one(after === 'PENDING') - one(before === 'PENDING'),
  };
}

function unclaimed({ refundClaims }: Order, { refundId }: Refund): readonly RefundClaim[] {
  return refundClaims.filter((claim) => claim.refundId !== refundId);
}

function succeeded(
  order: Order,
  refund: Refund,
  stepNames: readonly string[],
  what: Omit<TransitionDetails, 'cause'>,
  patch: OrderPatch & { readonly refunded: Decimal },
): RefundChange {
  const trigger: TransitionDetails = {
    ...what,
    cause: 'REFUND_SUCCEEDED',
    detail: what.detail ?? refund.reason,
  };
  const withSteps = { ...patch, steps: [...order.steps, ...furtherSteps(order, stepNames, what.atMs)] };
  const inFull = patch.refunded.gte(order.amount);
  const canClose = order.state === 'PAID' || order.state === 'CONFIRMED';
  const after =
    inFull && canClose
      ? move(order, 'REFUNDED_IN_FULL', 'REFUNDED', trigger, withSteps)
      : note(order, trigger, withSteps);
  return { order: after, refund };
}

/**
 * The order as its refunds say: what they come to, how many there are, who still asks for one, and whether all is given back.
 * Both are written together, yet after a restore they may be of different moments: the refunds are what happened.
 */
export function agreeWithRefunds(order: Order, refunds: readonly Refund[], atMs: number): Order {
  const own = refunds.filter((refund) => overpaymentOf(order, refund) === undefined);
  const refunded = sumIn('SUCCEEDED', own);
  const refundPending = sumIn('PENDING', own);
  const agreed: Order = {
    ...order,
    ...countsOf(own),
    refunded,
    refundPending,
    refundable: isPaid(order.state) ? subtract(order.amount, add(refunded, refundPending)) : ZERO,
    refundClaims: order.refundClaims.filter(({ refundId }) =>
      own.some((refund) => refund.refundId === refundId && refund.state === 'PENDING'),
    ),
    overpayments: order.overpayments.map((one) => {
      const its = refunds.filter(({ paymentId }) => paymentId === one.paymentId);
      return { ...one, ...countsOf(its), refunded: sumIn('SUCCEEDED', its) };
    }),
  };
  const inFull = order.amount.gt(ZERO) && refunded.gte(order.amount);
  if (!isPaid(order.state) || inFull === (order.state === 'REFUNDED')) return agreed;
  const what = { actor: 'stripe', atMs };
  return inFull
    ? move(agreed, 'REFUNDED_IN_FULL', 'REFUNDED', { ...what, cause: 'REFUND_SUCCEEDED' })
    : move(agreed, 'REFUND_UNDONE', stepsDone(order) ? 'CONFIRMED' : 'PAID', {
        ...what,
        cause: 'REFUND_FAILED',
      });
}

function sumIn(state: Refund['state'], refunds: readonly Refund[]): Decimal {
  return add(...refunds.filter((refund) => refund.state === state).map(({ amount }) => amount));
}

function countsOf(refunds: readonly Refund[]): RefundCounts {
  const pending = refunds.filter(({ state }) => state === 'PENDING');
  return { refundCount: refunds.length, pendingRefundCount: pending.length };
}
