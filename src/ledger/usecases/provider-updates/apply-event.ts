import type { ProviderEvent, ProviderMetadata } from '../../../provider/port.ts';
import { MalformedItemError } from '../../kernel/attributes.ts';
import { defined } from '../../kernel/defined.ts';
import { type Overwriting, readRecordedPayment } from '../../items/event-item.ts';
import { type OrderRef, paymentKey } from '../../kernel/keys.ts';
import { plan } from '../../items/plan.ts';
import { ignored } from '../../model/provider/update-decision.ts';
import { type PaymentOutcome, applyPayment } from './apply-payment.ts';
import { applyDispute } from './apply-dispute.ts';
import { applyRefund, applyRefundsOf } from './apply-refund.ts';
import { type SessionOutcome, applySession } from './apply-session.ts';
import { type Ledger, commit } from '../runtime/ledger.ts';
import { eventPart } from './commit-update.ts';
import { orderNamedBy } from './load-context.ts';
import { processProviderUpdate } from './process-provider-update.ts';
import type { UpdateResult, UpdateSource } from './provider-update.ts';

type EventSource = Extract<UpdateSource, { kind: 'EVENT' }>;

/**
 * Applies an event of the provider: once, in whatever order events come, and all of its effect together with its record
 * (docs/DESIGN.md §8). DONE needs no redelivery; COME_AGAIN does. What it throws is a bug: a FAILED note is left for
 * operators, which a later delivery overwrites.
 * @param overwriting which earlier records of the event give way: a replay's by hand, all but APPLIED
 */
export async function applyEvent(
  ledger: Ledger,
  event: ProviderEvent,
  overwriting: Overwriting = 'FAILED',
): Promise<UpdateResult> {
  const source: EventSource = { kind: 'EVENT', event, overwriting };
  try {
    return await dispatch(ledger, event, source);
  } catch (error) {
    try {
      await noteFailure(ledger, event, failureName(error), overwriting);
    } catch {
      // Best effort: whatever failed may fail again, and the failure that is being noted is the one to tell of.
    }
    throw error;
  }
}

function dispatch(ledger: Ledger, event: ProviderEvent, source: EventSource): Promise<UpdateResult> {
  const { object } = event;
  switch (object.kind) {
    case 'session': {
      const outcome = SESSION_EVENTS[event.type];
      if (outcome === undefined) return ignore(ledger, source);
      const unpaid = outcome === 'COMPLETED' && object.session.paymentStatus === 'unpaid';
      return applySession(
        ledger,
        object.session,
        outcome === 'COMPLETED' ? (unpaid ? 'WAITING' : 'PAID') : outcome,
        source,
      );
    }
    case 'payment': {
      const outcome = PAYMENT_EVENTS[event.type];
      if (outcome === undefined) return ignore(ledger, source);
      return applyPayment(ledger, object.payment, outcome, source);
    }
    case 'refund':
      return applyRefund(ledger, object.refund, source);
    case 'charge':
      return applyRefundsOf(ledger, object, source);
    case 'dispute':
      return applyDispute(ledger, object.dispute, source);
    case 'other':
      return ignore(ledger, source);
  }
}

const SESSION_EVENTS: Readonly<Record<string, SessionOutcome | 'COMPLETED'>> = {
  'checkout.session.completed': 'COMPLETED',
  'checkout.session.async_payment_succeeded': 'PAID',
  'checkout.session.async_payment_failed': 'FAILED',
  'checkout.session.expired': 'EXPIRED',
};

const PAYMENT_EVENTS: Readonly<Record<string, PaymentOutcome>> = {
  'payment_intent.succeeded': 'SUCCEEDED',
  'payment_intent.processing': 'PROCESSING',
  'payment_intent.requires_action': 'ACTION',
  'payment_intent.payment_failed': 'DECLINED',
  'payment_intent.canceled': 'CANCELED',
};

/** An event without meaning for us: its record alone, so that nobody looks at it again. */
function ignore(ledger: Ledger, source: EventSource): Promise<UpdateResult> {
  const subject = {
    paymentId: undefined,
    metadata: {},
    objectId: undefined,
    livemode: source.event.livemode,
  };
  return processProviderUpdate(ledger, source, subject, { known: () => ignored('no such event') });
}

/** What a note says of an error: its name alone, since its words may be anybody's. */
export function failureName(error: unknown): string {
  return error instanceof Error ? error.name : 'error';
}

/** NOTED: operators have it, listed for the tenant that it names. SETTLED: it was applied meanwhile. */
export type FailureNote =
  { readonly kind: 'NOTED'; readonly tenant?: string } | { readonly kind: 'SETTLED' | 'UNWRITTEN' };

/**
 * Leaves a FAILED note of an event in place of its record, which a later delivery overwrites. Whose it is is told by the
 * event itself or by the booking of its payment. Throws TableUnavailableError in an outage of the table.
 */
export async function noteFailure(
  ledger: Ledger,
  event: ProviderEvent,
  detail: string,
  overwriting: Overwriting = 'FAILED',
): Promise<FailureNote> {
  const about = aboutOf(event);
  const token = ledger.ids.token();
  const ref = orderNamedBy(about.metadata) ?? (await recordedFor(ledger, about.paymentId));
  const part = eventPart(ledger, { kind: 'EVENT', event, overwriting }, token, {
    outcome: 'FAILED',
    detail,
    ref,
    objectId: about.objectId,
  });
  const { kind } = await commit(ledger, plan(token, part));
  if (kind === 'COMMITTED') return { kind: 'NOTED', ...defined({ tenant: ref?.tenant }) };
  return { kind: kind === 'SEEN' ? 'SETTLED' : 'UNWRITTEN' };
}

async function recordedFor(ledger: Ledger, paymentId: string | undefined): Promise<OrderRef | undefined> {
  if (paymentId === undefined) return undefined;
  const [item] = await ledger.store.get([paymentKey(paymentId)]);
  if (item === undefined) return undefined;
  try {
    const { tenant, accountId, orderId } = readRecordedPayment(item);
    return { tenant, accountId, orderId };
  } catch (error) {
    // The note is to be written in any case: such an item may be the very reason for it.
    if (error instanceof MalformedItemError) return undefined;
    throw error;
  }
}

/** What an event is about, by itself. */
export interface About {
  readonly metadata: ProviderMetadata;
  readonly paymentId: string | undefined;
  readonly objectId: string | undefined;
}

export function aboutOf({ object }: ProviderEvent): About {
  switch (object.kind) {
    case 'session': {
      const { metadata, paymentId, sessionId } = object.session;
      return { metadata, paymentId: paymentId ?? sessionId, objectId: sessionId };
    }
    case 'payment': {
      const { metadata, paymentId } = object.payment;
      return { metadata, paymentId, objectId: paymentId };
    }
    case 'refund': {
      const { metadata, paymentId, providerRefundId } = object.refund;
      return { metadata, paymentId, objectId: providerRefundId };
    }
    case 'charge':
      return { metadata: object.metadata, paymentId: object.paymentId, objectId: object.paymentId };
    case 'dispute':
      return { metadata: {}, paymentId: object.dispute.paymentId, objectId: object.dispute.disputeId };
    case 'other':
      return { metadata: {}, paymentId: undefined, objectId: undefined };
  }
}
