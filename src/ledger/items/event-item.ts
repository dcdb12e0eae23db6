import {
  type StoredItem,
  optionalInteger,
  optionalString,
  readBoolean,
  readDecimal,
  readInteger,
  readOneOf,
  readString,
  toAttributes,
} from '../kernel/attributes.ts';
import { defined } from '../kernel/defined.ts';
import { integer } from '../kernel/integers.ts';
import { type OrderRef, eventKey, paymentKey } from '../kernel/keys.ts';
import { type PlanPart, putNew } from './plan.ts';
import {
  EVENT_OUTCOMES,
  type EventOutcome,
  type RecordedPayment,
} from '../model/provider/update-decision.ts';

/** An event is remembered this long, which is how long the provider keeps it (docs/DESIGN.md §3). */
export const EVENT_LIFE_S = 30 * 86_400;
/** What operators have to look at. */
export const PROBLEM_OUTCOMES = ['MISMATCH', 'FAILED'] as const satisfies readonly EventOutcome[];
export type ProblemOutcome = (typeof PROBLEM_OUTCOMES)[number];

/** All that is kept of an event: names, ids and words, nothing of a person. */
export interface EventRecord {
  readonly eventId: string;
  readonly type: string;
  readonly outcome: EventOutcome;
  readonly livemode: boolean;
  readonly occurredAtMs: number;
  readonly processedAtMs: number;
  /** The session, payment, refund or dispute that it is about. */
  readonly objectId?: string;
  readonly tenant?: string;
  /** The order that it is about, of that tenant. */
  readonly order?: OrderRef;
  /** Why it had no effect, or what went wrong, in a few words of ours. */
  readonly detail?: string;
  /** The transaction that wrote it: how a lost answer is recognised as our own commit. */
  readonly transactionId: string;
  readonly ttlS: number;
}

/** Which earlier records give way beside expired ones: a delivery's own those that FAILED, a replay's all but APPLIED. */
export type Overwriting = 'FAILED' | 'ALL_BUT_APPLIED';

/** Whether an earlier record of the event is its answer already. TTL deletion is late by days, so this compares. */
export function isSettled(record: EventRecord, overwriting: Overwriting, nowS: number): boolean {
  if (record.ttlS < nowS) return false;
  return overwriting === 'FAILED' ? record.outcome !== 'FAILED' : record.outcome === 'APPLIED';
}

/** The event record, item 0 of the transaction that holds the event's effect. */
export function putEvent(record: EventRecord, overwriting: Overwriting): PlanPart {
  const nowS = Math.floor(record.processedAtMs / 1000);
  const givesWay = overwriting === 'FAILED' ? '#outcome = :known' : '#outcome <> :known';
  return {
    items: [
      {
        role: 'event',
        item: {
          Put: {
            Item: toAttributes({
              ...eventKey(record.eventId),
              outcome: record.outcome,
              event: record.type,
              object: record.objectId,
              tenant: record.tenant,
              account: record.order?.accountId,
              order: record.order?.orderId,
              detail: record.detail,
              livemode: record.livemode,
              occurred_at: integer(record.occurredAtMs),
              processed_at: integer(record.processedAtMs),
              tx: record.transactionId,
              ttl: integer(record.ttlS),
              ...listing(record),
            }),
            ConditionExpression: `attribute_not_exists(#uuid) OR #ttl < :now OR ${givesWay}`,
            ExpressionAttributeNames: { '#uuid': 'uuid', '#ttl': 'ttl', '#outcome': 'outcome' },
            ExpressionAttributeValues: {
              ':now': { N: String(nowS) },
              ':known': { S: overwriting === 'FAILED' ? 'FAILED' : 'APPLIED' },
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      },
    ],
  };
}

/** Reads an event record. Throws MalformedItemError. */
export function readEventRecord(item: StoredItem): EventRecord {
  const tenant = optionalString(item, 'tenant');
  const accountId = optionalString(item, 'account');
  const orderId = optionalString(item, 'order');
  const order =
    tenant === undefined || accountId === undefined || orderId === undefined
      ? undefined
      : { tenant, accountId, orderId };
  return {
    eventId: readString(item, 'uuid').slice('stripe#'.length),
    type: readString(item, 'event'),
    outcome: readOneOf(item, 'outcome', EVENT_OUTCOMES),
    livemode: readBoolean(item, 'livemode'),
    occurredAtMs: readInteger(item, 'occurred_at'),
    processedAtMs: readInteger(item, 'processed_at'),
    transactionId: readString(item, 'tx'),
    ttlS: readInteger(item, 'ttl'),
    ...defined({
      objectId: optionalString(item, 'object'),
      tenant,
      order,
      detail: optionalString(item, 'detail'),
    }),
  };
}

function listing({ outcome, tenant, processedAtMs }: EventRecord): {
  readonly listed?: string;
  readonly listed_at?: ReturnType<typeof integer>;
} {
  const problem = PROBLEM_OUTCOMES.find((candidate) => candidate === outcome);
  // Of a mismatch the order is known. What couldn't be read at all may be anybody's.
  if (problem === undefined || (tenant === undefined && problem !== 'FAILED')) return {};
  return {
    listed: problemList(problem, tenant, monthOf(processedAtMs)),
    listed_at: integer(processedAtMs),
  };
}

/** The partition of the `listed` index that holds a tenant's problems, or nobody's, of one month (`2026-01`, UTC). */
export function problemList(outcome: ProblemOutcome, tenant: string | undefined, month: string): string {
  return `event#${outcome}#${tenant ?? ''}#${month}`;
}

export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** Books a provider payment: fails if it has been booked before, for whatever order. */
export function putPayment(recorded: RecordedPayment): PlanPart {
  return {
    items: [
      putNew('payment', {
        ...paymentKey(recorded.paymentId),
        tenant: recorded.tenant,
        account: recorded.accountId,
        order: recorded.orderId,
        booked_as: recorded.recordedAs,
        attempt: integer(recorded.attempt),
        currency: recorded.currency,
        amount: recorded.amount,
        at: integer(recorded.atMs),
      }),
    ],
  };
}

/** Checks that a payment item is still the one that was read. */
export function checkPayment({ paymentId, orderId, recordedAs, atMs }: RecordedPayment): PlanPart {
  return {
    items: [
      {
        role: 'payment',
        item: {
          ConditionCheck: {
            Key: toAttributes({ ...paymentKey(paymentId) }),
            ConditionExpression: '#order = :order AND #as = :as AND #at = :at',
            ExpressionAttributeNames: { '#order': 'order', '#as': 'booked_as', '#at': 'at' },
            ExpressionAttributeValues: {
              ':order': { S: orderId },
              ':as': { S: recordedAs },
              ':at': { N: String(atMs) },
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      },
    ],
  };
}

/** Reads a payment item. Throws MalformedItemError. */
export function readRecordedPayment(item: StoredItem): RecordedPayment {
  return {
    paymentId: readString(item, 'uuid').slice('stripe#'.length),
    tenant: readString(item, 'tenant'),
    accountId: readString(item, 'account'),
    orderId: readString(item, 'order'),
    recordedAs: readOneOf(item, 'booked_as', ['ORDER', 'SURPLUS']),
    attempt: optionalInteger(item, 'attempt') ?? 0,
    currency: readString(item, 'currency'),
    amount: readDecimal(item, 'amount'),
    atMs: readInteger(item, 'at'),
  };
}
