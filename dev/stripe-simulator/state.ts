import type Stripe from 'stripe';
import type { StoredEvent } from './objects/events.ts';

/** A price as it travels: the SDK turns the decimal text into an object of its own, so the wire type differs. */
export type WirePrice = Omit<Stripe.Price, 'unit_amount_decimal' | 'deleted'> & {
  readonly unit_amount_decimal: string;
};

export type WireLineItem = Omit<Stripe.LineItem, 'price'> & { readonly price: WirePrice };

/**
 * What a session needs beside Stripe's own object: its lines (sent only when expanded) and what its payment
 * intent is made from, since Checkout makes the intent only when the customer pays.
 */
export interface SessionDetails {
  readonly lineItems: readonly WireLineItem[];
  readonly paymentIntentMetadata: Readonly<Record<string, string>>;
  readonly paymentIntentDescription: string | null;
}

/** The answer that a key is bound to, as it was first given. */
export interface StoredResponse {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly requestId: string;
  readonly createdS: number;
}

/** Everything the simulator knows, kept in insertion order, which is the order of creation. */
export interface State {
  readonly sessions: Map<string, Stripe.Checkout.Session>;
  readonly sessionDetails: Map<string, SessionDetails>;
  readonly paymentIntents: Map<string, Stripe.PaymentIntent>;
  readonly charges: Map<string, Stripe.Charge>;
  readonly refunds: Map<string, Stripe.Refund>;
  readonly disputes: Map<string, Stripe.Dispute>;
  readonly events: Map<string, StoredEvent>;
  readonly responses: Map<string, StoredResponse>;
  /** Ids of the events whose webhook hasn't been answered with 2xx yet. */
  readonly undelivered: Set<string>;
  /** How many ids were made, so that a restart with the same seed doesn't make them again. */
  idsMade: number;
  /** How far the simulator's clock was advanced. */
  clockOffsetMs: number;
}

export function emptyState(): State {
  return {
    sessions: new Map(),
    sessionDetails: new Map(),
    paymentIntents: new Map(),
    charges: new Map(),
    refunds: new Map(),
    disputes: new Map(),
    events: new Map(),
    responses: new Map(),
    undelivered: new Set(),
    idsMade: 0,
    clockOffsetMs: 0,
  };
}
