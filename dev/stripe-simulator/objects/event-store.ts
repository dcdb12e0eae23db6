import Stripe from 'stripe';
import { type Emission, OUTSIDE_CAUSE, type StoredEvent } from './events.ts';
import type { Simulation } from '../simulation.ts';

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
