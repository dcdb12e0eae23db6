import type { EventObjectName, ProviderEvent } from '../../../provider/port.ts';
import { type Overwriting, readRecordedPayment } from '../../items/event-item.ts';
import { plan } from '../../items/plan.ts';
import { MalformedItemError } from '../../kernel/attributes.ts';
import { defined } from '../../kernel/defined.ts';
import { type OrderRef, paymentKey } from '../../kernel/keys.ts';
import { ignored } from '../../model/provider/update-decision.ts';
import { type Ledger, commit } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { applyDispute } from './apply-dispute.ts';
import { PAYMENT_EVENTS, applyPayment } from './apply-payment.ts';
import { applyRefund, applyRefundsOf } from './apply-refund.ts';
import { applySession, sessionEventOutcome } from './apply-session.ts';
import { eventParts } from './commit-update.ts';
import { processProviderUpdate } from './process-provider-update.ts';
import {
  type EventSource,
  type UpdateResult,
  orderNamedBy,
  providerUpdate,
  retryLater,
} from './provider-update.ts';

/**
 * Applies an event of the provider: once, in whatever order events come, and all of its effect together with its record
 * (docs/DESIGN.md §8). DONE needs no redelivery; RETRY_LATER does. What it throws is a bug: a FAILED note is left for
 * operators, which a later delivery overwrites.
 * @param overwriting which earlier records of the event give way: a replay's by hand, all but APPLIED
 */
export async function applyEvent(
  ledger: Ledger,
  event: ProviderEvent,
  overwriting: Overwriting = 'FAILED',
): Promise<UpdateResult> {
  try {
    if (event.leftAlone !== undefined) return await ignore(ledger, { kind: 'EVENT', event, overwriting });
    if (event.object.kind === 'unread')
      return await applyUnread(ledger, event, event.object.name, overwriting);
    return await dispatch(ledger, { kind: 'EVENT', event, overwriting });
  } catch (error) {
    try {
      await noteFailure(ledger, event, failureName(error), overwriting);
    } catch {
      // Best effort: whatever failed may fail again, and the failure that is being noted is the one to report.
    }
    throw error;
  }
}

function dispatch(ledger: Ledger, source: EventSource): Promise<UpdateResult> {
  const { object, type } = source.event;
  switch (object.kind) {
    case 'session': {
      const outcome = sessionEventOutcome(type, object.session);
      return outcome === undefined
        ? ignore(ledger, source)
        : applySession(ledger, object.session, outcome, source);
    }
    case 'payment': {
      const outcome = PAYMENT_EVENTS[type];
      return outcome === undefined
        ? ignore(ledger, source)
        : applyPayment(ledger, object.payment, outcome, source);
    }
    case 'refund':
      return applyRefund(ledger, object.refund, source);
    case 'charge':
      return applyRefundsOf(ledger, object, source);
    case 'dispute':
      return applyDispute(ledger, object.dispute, source);
    case 'other':
    case 'unread':
      return ignore(ledger, source);
  }
}

/**
 * An event whose object can't be judged as it came: of another API version, or without something that we need. It is judged
 * from the object as the provider has it now, in our version. What can't be read then either is noted for operators, and
 * needs no redelivery: it would come as it is.
 */
async function applyUnread(
  ledger: Ledger,
  event: ProviderEvent,
  name: EventObjectName | undefined,
  overwriting: Overwriting,
): Promise<UpdateResult> {
  const found = name === undefined ? undefined : await ledger.provider.retrieveEventObject(name);
  if (found?.kind === 'DONE') {
    return dispatch(ledger, { kind: 'EVENT', event: { ...event, object: found.value }, overwriting });
  }
  const isUnreadable =
    found === undefined || found.kind === 'REFUSED' || found.reason === 'unreadable_answer';
  if (!isUnreadable) return retryLater('PROVIDER');
  const note = await noteFailure(ledger, event, 'can not be read', overwriting);
  if (note.kind === 'UNWRITTEN') return retryLater('TABLE');
  if (note.kind === 'NOTED') ledger.count('UnreadableEvent');
  return { kind: 'DONE', outcome: 'FAILED', duplicate: note.kind === 'APPLIED' };
}

const LEFT_ALONE = { account: 'of a connected account', livemode: 'without a mode' } as const;

/** An event without meaning for us: its record alone, so that nobody looks at it again. */
function ignore(ledger: Ledger, source: EventSource): Promise<UpdateResult> {
  const { leftAlone } = source.event;
  const detail = leftAlone === undefined ? 'no such event' : LEFT_ALONE[leftAlone];
  return processProviderUpdate(ledger, providerUpdate(source, { kind: 'other' }), {
    decide: () => ignored(detail),
    ...(leftAlone !== undefined && { identify: () => ignored(detail) }),
  });
}

/** What a note says of an error: its name alone, since its message may contain anything. */
export function failureName(error: unknown): string {
  return error instanceof Error ? error.name : 'error';
}

/** NOTED: operators have it, listed for the tenant that it names. APPLIED: another delivery did meanwhile. */
export type FailureNote =
  { readonly kind: 'NOTED'; readonly tenant?: string } | { readonly kind: 'APPLIED' | 'UNWRITTEN' };

/**
 * Leaves a FAILED note of an event in place of its record, which a later delivery overwrites. The tenant is that of the
 * order which the event names, or for which its payment is recorded. Throws TableUnavailableError.
 */
export async function noteFailure(
  ledger: Ledger,
  event: ProviderEvent,
  detail: string,
  overwriting: Overwriting = 'FAILED',
): Promise<FailureNote> {
  const update = providerUpdate({ kind: 'EVENT', event, overwriting }, event.object);
  const token = ledger.ids.token();
  const order = orderNamedBy(update.metadata) ?? (await recordedFor(ledger, update.paymentId));
  const parts = eventParts(ledger, update, token, { outcome: 'FAILED', detail, order });
  const { kind } = await commit(ledger, plan(token, ...parts));
  if (kind === 'COMMITTED') return { kind: 'NOTED', ...defined({ tenant: order?.tenant }) };
  return { kind: kind === 'SEEN' ? 'APPLIED' : 'UNWRITTEN' };
}

async function recordedFor(ledger: Ledger, paymentId: string | undefined): Promise<OrderRef | undefined> {
  if (paymentId === undefined) return undefined;
  try {
    return await readItem(ledger, paymentKey(paymentId), readRecordedPayment);
  } catch (error) {
    // The note is to be written in any case: such an item may be the very reason for it.
    if (error instanceof MalformedItemError) return undefined;
    throw error;
  }
}
