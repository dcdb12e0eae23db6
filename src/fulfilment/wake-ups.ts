import type { OrderRef } from '../ledger/kernel/keys.ts';
import type { Transition, TransitionCause } from '../ledger/model/orders/order.ts';
import { WORKER_ACTOR } from '../ledger/model/orders/steps.ts';

/** Carries, within one process, which orders have just come to have work that is due at once. */
export interface WakeUps {
  /** Takes what was committed, and tells the listeners where it may leave something to do. Never throws. */
  readonly tell: (order: OrderRef, transition: Transition) => void;
  readonly onWake: (listener: (order: OrderRef) => void) => () => void;
}

/** What brings steps that are due at once, or an order that has none and is to be confirmed. */
const BRINGS_WORK: Readonly<Record<TransitionCause, boolean>> = {
  CREATED: false,
  CHECKOUT_OPENED: false,
  PAYMENT_PROCESSING: false,
  PAYMENT_DECLINED: false,
  PAYMENT_FAILED: false,
  PAYMENT_RECEIVED: true,
  SURPLUS_RECEIVED: true,
  WALLET_CHARGED: true,
  CASH_RECEIVED: true,
  SESSION_EXPIRED: false,
  CANCELED: false,
  STEP_DONE: false,
  STEP_DEAD: false,
  STEP_RETRIED: true,
  COMPLETED: false,
  REFUND_STARTED: false,
  REFUND_SUCCEEDED: true,
  REFUND_FAILED: false,
  DISPUTE_OPENED: true,
  DISPUTE_WON: false,
  DISPUTE_LOST: true,
};

/**
 * Makes the wake-ups of a process. They are a hint, so that an idle worker need not be waited for: whatever isn't told,
 * or is told to nobody, the due index knows.
 */
export function createWakeUps(): WakeUps {
  const listeners = new Set<(order: OrderRef) => void>();
  return {
    tell: (order, { cause, actor }) => {
      // What a worker writes of a step is due later, if at all.
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
