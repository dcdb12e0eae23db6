import { z } from 'zod';
import { epochS } from '../../ledger/kernel/clock.ts';
import { defined } from '../../ledger/kernel/defined.ts';
import {
  readProviderDispute,
  readProviderPayment,
  readProviderRefund,
  readProviderSession,
} from './mapping.ts';
import type { EventObjectName, ProviderEvent, ProviderEventObject } from '../port.ts';
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
type ObjectKind = EventObjectName['kind'];

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

const OBJECT_READERS: Readonly<Record<ObjectKind | 'charge', ObjectReader>> = {
  session,
  payment,
  refund,
  dispute,
  charge,
};

/** The event types that have an effect (docs/DESIGN.md §8), and what their object is. */
const OBJECT_KINDS: ReadonlyMap<string, ObjectKind | 'charge'> = new Map<string, ObjectKind | 'charge'>([
  ['checkout.session.completed', 'session'],
  ['checkout.session.async_payment_succeeded', 'session'],
  ['checkout.session.async_payment_failed', 'session'],
  ['checkout.session.expired', 'session'],
  ['payment_intent.succeeded', 'payment'],
  ['payment_intent.processing', 'payment'],
  ['payment_intent.requires_action', 'payment'],
  ['payment_intent.payment_failed', 'payment'],
  ['payment_intent.canceled', 'payment'],
  ['refund.created', 'refund'],
  ['refund.updated', 'refund'],
  ['refund.failed', 'refund'],
  ['charge.refunded', 'charge'],
  ['charge.dispute.created', 'dispute'],
  ['charge.dispute.updated', 'dispute'],
  ['charge.dispute.closed', 'dispute'],
  ['charge.dispute.funds_withdrawn', 'dispute'],
  ['charge.dispute.funds_reinstated', 'dispute'],
]);

/** The types that we list events of. A list takes at most twenty types. */
export const EVENT_TYPES: readonly string[] = [...OBJECT_KINDS.keys()];

const eventType = z.string().regex(/^[A-Za-z0-9_.]{1,128}$/);

/** What an event is stored by, in whatever shape it comes. Thin events say their time as a text. */
const namedShape = z.object({
  id: providerId,
  type: eventType.catch('unknown'),
  created: z.union([epochSeconds, z.iso.datetime().transform((text) => epochS(Date.parse(text)))]).catch(0),
  livemode: z.boolean().optional().catch(undefined),
  account: z.unknown().optional(),
});

const eventShape = z.object({
  object: z.literal('event'),
  api_version: orAbsent(z.string()),
  type: eventType,
  created: epochSeconds,
  data: z.object({ object: z.unknown() }),
});

const objectShape = z.object({
  id: providerId.optional().catch(undefined),
  metadata: metadata.catch({}),
});

/** Whose events are ours, and in which version. */
export interface EventReadingOptions {
  readonly apiVersion: string;
  /** Our own account's id: without it, every event that names an account is a connected account's. */
  readonly account: string | undefined;
}

/**
 * Reads an event, from a webhook's body or from the events API. If its type has no effect, its object isn't looked at. An object
 * of another version, or without what we need, is `unread`. UNREADABLE: there is no id to store it by.
 */
export function eventReader(options: EventReadingOptions): Reader<ProviderEvent> {
  return (raw) => {
    const named = namedShape.safeParse(raw);
    if (!named.success) return unreadable(named.error);
    const { id: eventId, type, created: createdS, livemode, account } = named.data;
    const isOthers = account !== undefined && account !== null && account !== options.account;
    const leftAlone = isOthers ? 'account' : livemode === undefined ? 'livemode' : undefined;
    const object = leftAlone === undefined ? objectOf(raw, type, options) : ({ kind: 'other' } as const);
    const about = { eventId, type, createdS, livemode: livemode ?? false, object };
    return { kind: 'READ', value: { ...about, ...defined({ leftAlone }) } };
  };
}

function objectOf(raw: unknown, type: string, { apiVersion }: EventReadingOptions): ProviderEventObject {
  const parsed = eventShape.safeParse(raw);
  if (!parsed.success) return { kind: 'unread', metadata: {} };
  const { api_version: version = apiVersion, data } = parsed.data;
  const kind = OBJECT_KINDS.get(type);
  if (kind === undefined) return { kind: 'other' };
  // Of a charge only its payment's id is read, which is the same in every version.
  const reading = version === apiVersion || kind === 'charge' ? OBJECT_READERS[kind](data.object) : undefined;
  if (reading?.kind === 'READ' && isWhole(reading.value)) return reading.value;
  if (reading?.kind === 'FOREIGN' && kind !== 'refund' && kind !== 'dispute') return { kind: 'other' };
  const { id, metadata: named } = objectShape.safeParse(data.object).data ?? { metadata: {} };
  const name = kind === 'charge' || id === undefined ? undefined : { kind, id };
  return { kind: 'unread', metadata: named, ...defined({ name }) };
}

/** Ours always have an amount. A session without one may be another integration's, or misread. */
function isWhole(object: ProviderEventObject): boolean {
  return object.kind !== 'session' || object.session.amountMinor !== undefined;
}

/** Reads what was fetched in the place of an event's object. What we can't have made is `other`. */
export function fetchedObjectReader(kind: ObjectKind): Reader<ProviderEventObject> {
  return (raw) => {
    const reading = OBJECT_READERS[kind](raw);
    return reading.kind === 'FOREIGN' ? { kind: 'READ', value: { kind: 'other' } } : reading;
  };
}

function map<From, To>(reading: Reading<From>, toValue: (value: From) => To): Reading<To> {
  return reading.kind === 'READ' ? { kind: 'READ', value: toValue(reading.value) } : reading;
}
