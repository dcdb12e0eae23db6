import type { Order } from './order.ts';

/**
 * What a follow-up follows: a transition of its order, or an overpayment. `atMs` is when; of an order's transitions of one
 * kind no two are of the same millisecond, so that each has steps of its own.
 */
export type FollowUpTrigger =
  | { readonly kind: 'paid' }
  | { readonly kind: 'failed' | 'expired' | 'canceled'; readonly atMs: number }
  | { readonly kind: 'refunded' | 'refund-failed'; readonly refundId: string; readonly atMs: number }
  | {
      readonly kind: 'disputed' | 'dispute-won' | 'dispute-lost';
      readonly disputeId: string;
      readonly atMs: number;
    }
  /** A second payment of an order that was paid already. */
  | { readonly kind: 'overpayment'; readonly paymentId: string };

/** Which follow-ups a trigger starts, by the names of their steps; a name is a step of an order once. */
export type StepNames = (trigger: FollowUpTrigger, order: Order) => readonly string[];
