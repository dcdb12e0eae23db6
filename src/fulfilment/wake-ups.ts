import type { OrderRef } from '../ledger/kernel/keys.ts';
import type { Transition, TransitionCause } from '../ledger/model/orders/order.ts';
import { WORKER_ACTOR } from '../ledger/model/orders/steps.ts';

/** Announces, within one process, orders that have just got work that is due at once. */
export interface WakeUps {
  /** Takes a committed transition, and calls the listeners if it may leave something to do. Never throws. */
  readonly onCommit: (order: OrderRef, transition: Transition) => void;
  readonly onWake: (listener: (order: OrderRef) => void) => () => void;
}

/** Causes that bring steps due at once, or an order that has none and is to be confirmed. */
const BRINGS_WORK: Readonly<Record<TransitionCause, boolean>> = {
  CREATED: false,
  CHECKOUT_OPENED: false,
  PAYMENT_PROCESSING: false,
  PAYMENT_DECLINED: false,
  PAYMENT_FAILED: true,
  PAYMENT_RECEIVED: true,
  SURPLUS_RECEIVED: true,
  WALLET_CHARGED: true,
  CASH_RECEIVED: true,
  SESSION_EXPIRED: true,
  CANCELED: true,
  STEP_DONE: false,
  STEP_DEAD: false,
  STEP_RETRIED: true,
  STEP_SKIPPED: false,
  COMPLETED: false,
  REFUND_STARTED: false,
  REFUND_SUCCEEDED: true,
  REFUND_FAILED: true,
  DISPUTE_OPENED: true,
  DISPUTE_WON: true,
  DISPUTE_LOST: true,
};

/**
 * Makes the wake-ups of a process. They are only hints, which save the wait for an idle worker: the due index lists every due
 * order anyway.
 */
export function createWakeUps(): WakeUps {
  const listeners = new Set<(order: OrderRef) => void>();
  return {
    onCommit: (order, { cause, actor }) => {
      // A worker's own write leaves work for later, if any.
      if (actor === WORKER_ACTOR || !BRINGS_WORK[cause]) return;
      for (const listener of listeners) listener(order);
    },
    onWake: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
