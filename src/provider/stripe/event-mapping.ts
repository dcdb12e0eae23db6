import { z } from 'zod';
import { defined } from '../../ledger/kernel/defined.ts';
import {
  readProviderDispute,
  readProviderPayment,
  readProviderRefund,
  readProviderSession,
} from './mapping.ts';
import type { ProviderEvent, ProviderEventObject } from '../port.ts';
import {
  epochSeconds,
  metadata,
  orAbsent,
  providerId,
  type Reader,
  type Reading,
  readerOf,
  reference,
  unreadable,
} from './shapes.ts';

type ObjectReader = Reader<ProviderEventObject>;

const session: ObjectReader = (raw) =>
  map(readProviderSession(raw), (value) => ({ kind: 'session', session: value }));

const payment: ObjectReader = (raw) =>
  map(readProviderPayment(raw), (value) => ({ kind: 'payment', payment: value }));

const refund: ObjectReader = (raw) =>
  map(readProviderRefund(raw), (value) => ({ kind: 'refund', refund: value }));

const dispute: ObjectReader = (raw) =>
  map(readProviderDispute(raw), (value) => ({ kind: 'dispute', dispute: value }));

const charge: ObjectReader = readerOf(
  z.object({ object: z.literal('charge'), payment_intent: orAbsent(reference), metadata }),
  (found) => ({ kind: 'charge', metadata: found.metadata, ...defined({ paymentId: found.payment_intent }) }),
);

/** The event types that have an effect (docs/DESIGN.md §8), and what their object is. */
const READERS: ReadonlyMap<string, ObjectReader> = new Map([
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

/** The types that we list events of. A list takes at most twenty types. */
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
  created: epochSeconds,
  livemode: z.boolean(),
  data: z.object({ object: z.unknown() }),
});

/** The id and type of what may be an event, so that people can find out why it couldn't be read. */
export function eventName(raw: unknown): { readonly eventId?: string; readonly eventType?: string } {
  const { id, type } = namedShape.safeParse(raw).data ?? {};
  return defined({ eventId: id, eventType: type });
}

/**
 * Reads an event, from a webhook's body or from the events API. If its type has no effect, its object isn't looked at. If its
 * type has one, the object must have its shape, or the event is UNREADABLE.
 */
export function readEvent(raw: unknown): Reading<ProviderEvent> {
  const parsed = eventShape.safeParse(raw);
  if (!parsed.success) return unreadable(parsed.error);
  const { id: eventId, type, created: createdS, livemode, data } = parsed.data;
  const read = READERS.get(type)?.(data.object) ?? { kind: 'FOREIGN' };
  if (read.kind === 'UNREADABLE') return { ...read, field: `data.object.${read.field}` };
  const object = read.kind === 'READ' ? read.value : ({ kind: 'other' } as const);
  return { kind: 'READ', value: { eventId, type, createdS, livemode, object } };
}

function map<From, To>(reading: Reading<From>, toValue: (value: From) => To): Reading<To> {
  return reading.kind === 'READ' ? { kind: 'READ', value: toValue(reading.value) } : reading;
}
