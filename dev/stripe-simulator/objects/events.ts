import type Stripe from 'stripe';

/** The events the simulator sends, by what changes. Each name is checked against the SDK's own list. */
export const EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.created',
  'payment_intent.requires_action',
  'payment_intent.processing',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.pending',
  'charge.succeeded',
  'charge.failed',
  'charge.refunded',
  'charge.refund.updated',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'refund.created',
  'refund.updated',
  'refund.failed',
] as const satisfies readonly Stripe.Event.Type[];

export type EventType = (typeof EVENT_TYPES)[number];

/** What an event of a type carries, by the SDK's types: a charge in a refund event doesn't compile. */
export type EventObject<T extends EventType = EventType> = Extract<
  Stripe.Event,
  { type: T }
>['data']['object'];

/** The API request that caused an event, as the event names it; nulls for a customer or the dashboard. */
export interface Cause {
  readonly id: string | null;
  readonly idempotency_key: string | null;
}

export const OUTSIDE_CAUSE: Cause = { id: null, idempotency_key: null };

export interface StoredEvent extends Omit<Stripe.EventBase, 'data' | 'type'> {
  readonly type: EventType;
  readonly data: {
    readonly object: EventObject;
    readonly previous_attributes?: Readonly<Record<string, unknown>>;
  };
}

/** An event to be: of one type, with the object as it is now and what changed in it. */
export type Emission = {
  [T in EventType]: {
    readonly type: T;
    readonly object: EventObject<T>;
    /** The object before the change, of which the event names the attributes that differ. */
    readonly before?: EventObject<T>;
    readonly cause?: Cause;
  };
}[EventType];
