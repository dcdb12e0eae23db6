import { z } from 'zod';
import { readDispute, readPayment, readRefund, readSession } from './mapping.ts';
import type { ProviderEvent, ProviderEventObject } from '../port.ts';
import {
  epochS,
  metadata,
  providerId,
  read,
  type Reader,
  type Reading,
  reference,
  unreadable,
} from './shapes.ts';

const chargeShape = z.object({
  object: z.literal('charge'),
  payment_intent: reference.nullish(),
  metadata,
});

const session: Reader<ProviderEventObject> = (raw) =>
  map(readSession(raw), (value) => ({ kind: 'session', session: value }));

const payment: Reader<ProviderEventObject> = (raw) =>
  map(readPayment(raw), (value) => ({ kind: 'payment', payment: value }));

const refund: Reader<ProviderEventObject> = (raw) =>
  map(readRefund(raw), (value) => ({ kind: 'refund', refund: value }));

const dispute: Reader<ProviderEventObject> = (raw) =>
  map(readDispute(raw), (value) => ({ kind: 'dispute', dispute: value }));

const charge: Reader<ProviderEventObject> = (raw) =>
  read(chargeShape, raw, (found) => ({
    kind: 'charge',
    metadata: found.metadata,
    ...(typeof found.payment_intent === 'string' && { paymentId: found.payment_intent }),
  }));

/** The event types that have an effect (docs/DESIGN.md §8), and what their object is. */
const READERS: ReadonlyMap<string, Reader<ProviderEventObject>> = new Map([
  ['checkout.session.completed', session],
  ['checkout.session.async_payment_succeeded', session],
  ['checkout.session.async_payment_failed', session],
  ['checkout.session.expired', session],
  ['payment_intent.succeeded', payment],
  ['payment_intent.processing', payment],
  ['payment_intent.requires_action', payment],
  ['payment_intent.payment_failed', payment],
  ['payment_intent.canceled', payment],
  ['refund.created', refund],
  ['refund.updated', refund],
  ['refund.failed', refund],
  ['charge.refunded', charge],
  ['charge.dispute.created', dispute],
  ['charge.dispute.updated', dispute],
  ['charge.dispute.closed', dispute],
  ['charge.dispute.funds_withdrawn', dispute],
  ['charge.dispute.funds_reinstated', dispute],
]);

/** All that has to be listed of events; a list takes at most twenty types. */
export const EVENT_TYPES: readonly string[] = [...READERS.keys()];

const eventType = z.string().regex(/^[A-Za-z0-9_.]{1,128}$/);

const namedShape = z.object({
  id: providerId.optional().catch(undefined),
  type: eventType.optional().catch(undefined),
});

const eventShape = z.object({
  object: z.literal('event'),
  id: providerId,
  type: eventType,
  created: epochS,
  livemode: z.boolean(),
  data: z.object({ object: z.unknown() }),
});

/** The id and type of what may be an event, for whoever has to find out why it couldn't be read. */
export function eventName(raw: unknown): { readonly eventId?: string; readonly eventType?: string } {
  const { id, type } = namedShape.safeParse(raw).data ?? {};
  return { ...(id !== undefined && { eventId: id }), ...(type !== undefined && { eventType: type }) };
}

/**
 * Reads an event, from a webhook's body or from the events API. The object of a type without effect isn't looked at;
 * of a type with one it must have its shape, or the event is UNREADABLE.
 */
export function readEvent(raw: unknown): Reading<ProviderEvent> {
  const parsed = eventShape.safeParse(raw);
  if (!parsed.success) return unreadable(parsed.error);
  const { id, type, created, livemode, data } = parsed.data;
  const object = READERS.get(type)?.(data.object) ?? { kind: 'FOREIGN' };
  if (object.kind === 'UNREADABLE') return { ...object, field: `data.object.${object.field}` };
  return {
    kind: 'READ',
    value: {
      eventId: id,
      type,
      createdS: created,
      livemode,
      object: object.kind === 'READ' ? object.value : { kind: 'other' },
    },
  };
}

function map<From, To>(reading: Reading<From>, toValue: (value: From) => To): Reading<To> {
  return reading.kind === 'READ' ? { kind: 'READ', value: toValue(reading.value) } : reading;
}
