import Stripe from 'stripe';
import type { Cause, Simulation } from './simulation.ts';
import { OUTSIDE_CAUSE } from './simulation.ts';

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

const RETENTION_S = 30 * 24 * 60 * 60;

/** Keeps an event: a copy of the object at this moment, never changed afterwards. */
export function storeEvent(simulation: Simulation, emission: Emission): StoredEvent {
  const { object, before, type, cause = OUTSIDE_CAUSE } = emission;
  const event: StoredEvent = {
    id: simulation.newId('evt'),
    object: 'event',
    api_version: Stripe.API_VERSION,
    created: simulation.nowS(),
    data: {
      object: structuredClone(object),
      ...(before === undefined ? {} : { previous_attributes: previousAttributes(before, object) }),
    },
    livemode: simulation.settings.livemode,
    pending_webhooks: 0,
    request: cause,
    type,
  };
  simulation.state.events.set(event.id, event);
  return event;
}

function previousAttributes(before: object, after: object): Record<string, unknown> {
  const now = new Map<string, unknown>(Object.entries(after));
  const changed = Object.entries(before).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(now.get(name)),
  );
  return Object.fromEntries(changed);
}

/** The event of that id, unless it is older than the 30 days Stripe keeps events. */
export function findEvent(simulation: Simulation, id: string): StoredEvent | undefined {
  const event = simulation.state.events.get(id);
  return event !== undefined && isKept(simulation, event) ? event : undefined;
}

/** Events still kept, oldest first, narrowed to types, where `charge.*` names a group. */
export function keptEvents(simulation: Simulation, types: readonly string[] | undefined): StoredEvent[] {
  return [...simulation.state.events.values()].filter(
    (event) =>
      isKept(simulation, event) &&
      (types === undefined || types.some((wanted) => matchesType(wanted, event.type))),
  );
}

function isKept(simulation: Simulation, event: StoredEvent): boolean {
  return event.created > simulation.nowS() - RETENTION_S;
}

function matchesType(wanted: string, type: string): boolean {
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : wanted === type;
}
