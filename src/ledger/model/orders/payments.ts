import type { OrderTrigger } from './order-states.ts';
import { type TransitionDetails, move } from './order-changes.ts';
import { hasRoomForSteps } from './order-size.ts';
import type { Order, OrderLine, OrderPayment, Step } from './order.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import { type Decimal, ZERO } from '../../kernel/money.ts';

/** What an order is opened with. */
export interface OrderOpening extends OrderRef {
  readonly kind: Order['kind'];
  readonly merchantId?: string;
  readonly currency: string;
  readonly amount: Decimal;
  readonly asset?: string;
  readonly lines: readonly OrderLine[];
  readonly actor: string;
  readonly consented: boolean;
  readonly reference?: string;
  readonly hasMetadata: boolean;
  readonly atMs: number;
}

/** A new order, CREATED, version 1. */
export function openOrder({ atMs, ...opening }: OrderOpening): Order {
  return {
    ...opening,
    state: 'CREATED',
    version: 1,
    rev: 1,
    refundable: ZERO,
    refunded: ZERO,
    refundPending: ZERO,
    receivable: ZERO,
    attempts: [],
    refundCount: 0,
    pendingRefundCount: 0,
    refundClaims: [],
    disputes: [],
    overpayments: [],
    steps: [],
    timeline: [{ version: 1, to: 'CREATED', cause: 'CREATED', actor: opening.actor, atMs }],
    unlistedNotes: 0,
    createdAtMs: atMs,
    updatedAtMs: atMs,
  };
}

/** The order once its money is in: all of it refundable, its follow-ups due at once. */
export function payOrder(
  order: Order,
  trigger: Extract<OrderTrigger, 'WALLET_CHARGE' | 'CASH' | 'MONEY_ARRIVED'>,
  payment: OrderPayment,
  stepNames: readonly string[],
  what: TransitionDetails,
): Order {
  return move(order, trigger, 'PAID', what, {
    payment,
    refundable: order.amount,
    steps: [...order.steps, ...newSteps(order, stepNames, what.atMs)],
  });
}

/** What follows anything but the payment. Where there is no room for it, only the facts are kept. */
export function furtherSteps(order: Order, names: readonly string[], atMs: number): readonly Step[] {
  return hasRoomForSteps(order) ? newSteps(order, names, atMs) : [];
}

/** Steps that the order doesn't have yet: a name is a step once. */
export function newSteps(order: Order, names: readonly string[], atMs: number): readonly Step[] {
  return names
    .filter((name) => order.steps.every((step) => step.name !== name))
    .map((name) => ({ name, state: 'PENDING', attempts: 0, nextAttemptAtMs: atMs }));
}
