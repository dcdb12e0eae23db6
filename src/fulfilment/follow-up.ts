import type { Order } from '../ledger/model/orders/order.ts';
import type { Tenant } from '../config/tenants.ts';

/** What a follow-up follows. A step's name says it: `receipt:paid`, `receipt:refunded:<refundId>`, … */
export type FollowUpTrigger =
  | { readonly kind: 'paid' }
  | { readonly kind: 'refunded'; readonly refundId: string }
  | { readonly kind: 'disputed'; readonly disputeId: string }
  /** A second payment of an order that was paid already. */
  | { readonly kind: 'overpayment'; readonly paymentId: string };

/** How a run ended. A reason is stored with the order and shown to operators: no personal data, no secrets. */
export type StepResult =
  /** `refunds`: how many refunds of its overpayment the provider has now, where the step is about one. */
  | { readonly kind: 'DONE'; readonly refunds?: number }
  /** It didn't work: try again later. What a run throws counts as this. */
  | { readonly kind: 'RETRY'; readonly reason: string }
  /** It can't work: to the dead letters at once. */
  | { readonly kind: 'GIVE_UP'; readonly reason: string };

export interface StepContext {
  /** The order as it was when the step was taken up. */
  readonly order: Order;
  readonly trigger: FollowUpTrigger;
  /**
   * The step's idempotency key: the same on every attempt, and no other step's. A run may be repeated after it had its
   * effect, when its worker died before it could say so: hand this on, so that the effect happens once.
   */
  readonly key: string;
  /** Aborts when the time is over or the worker stops: a run that goes on after that may meet its own repetition. */
  readonly signal: AbortSignal;
}

/** Something that follows when money came in or went back: telling the merchant, a receipt, stock, analytics. */
export interface FollowUp {
  /** Lower-case words with dashes; it begins the names of the steps, so it must not change while there are any. */
  readonly name: string;
  /** Whether this order gets a step for this. Asked once, while the money is booked: pure, quick, never throws. */
  readonly appliesTo: (trigger: FollowUpTrigger, order: Order, tenant: Tenant) => boolean;
  /** Does it, at least once. */
  readonly run: (context: StepContext) => Promise<StepResult>;
}

const NAME_GRAMMAR = /^[a-z][a-z0-9-]{0,63}$/;

export function isFollowUpName(name: string): boolean {
  return NAME_GRAMMAR.test(name);
}

/** The name of the step by which a follow-up follows this. */
export function stepName(followUpName: string, trigger: FollowUpTrigger): string {
  switch (trigger.kind) {
    case 'paid':
      return `${followUpName}:paid`;
    case 'refunded':
      return `${followUpName}:refunded:${trigger.refundId}`;
    case 'disputed':
      return `${followUpName}:disputed:${trigger.disputeId}`;
    case 'overpayment':
      return `${followUpName}:${trigger.paymentId}`;
  }
}

/** Reads a step's name: which follow-up, and what it follows. */
export function readStepName(name: string): {
  readonly followUpName: string;
  readonly trigger: FollowUpTrigger;
} {
  const [followUpName = '', kind = '', ...rest] = name.split(':');
  const id = rest.join(':');
  if (kind === 'paid' && id === '') return { followUpName, trigger: { kind } };
  if (kind === 'refunded' && id !== '') return { followUpName, trigger: { kind, refundId: id } };
  if (kind === 'disputed' && id !== '') return { followUpName, trigger: { kind, disputeId: id } };
  return { followUpName, trigger: { kind: 'overpayment', paymentId: [kind, ...rest].join(':') } };
}
