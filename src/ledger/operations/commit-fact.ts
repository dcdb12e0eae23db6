import { epochS } from '../clock.ts';
import { defined } from '../defined.ts';
import { bookEntry } from '../entry-writes.ts';
import { type OrderRef, eventKey } from '../keys.ts';
import { updateOrder } from '../orders/order-writes.ts';
import { type Plan, type PlanPart, plan } from '../plan.ts';
import {
  EVENT_LIFE_S,
  type EventOutcome,
  type EventRecord,
  putEvent,
  putPayment,
  readEventRecord,
} from '../provider/event-item.ts';
import type { FactDecision } from '../provider/provider-facts.ts';
import { putRefundAside } from '../provider/refunds-aside.ts';
import { type Ledger, commit, publish } from './ledger.ts';
import { type Settled, type Source, type Subject, duplicate } from './told-fact.ts';

/**
 * Commits all that a fact does in one transaction: the event's marker first, the payment item, the order, the refund
 * beside it, the entry with its balances. Undefined where what was read has changed by then: read and judge again.
 */
export async function commitDecision(
  ledger: Ledger,
  source: Source,
  subject: Subject,
  ref: OrderRef | undefined,
  decision: FactDecision,
): Promise<Settled | undefined> {
  const outcome: EventOutcome = decision.kind === 'CHANGE' ? 'APPLIED' : decision.outcome;
  const detail = decision.kind === 'CHANGE' ? undefined : decision.detail;
  const done: Settled = { kind: 'DONE', outcome, duplicate: false, order: ref, detail };
  const token = ledger.ids.token();
  const parts = [
    ...(source.kind === 'EVENT'
      ? [eventPart(ledger, source, token, { outcome, detail, ref, objectId: subject.objectId })]
      : []),
    ...changeParts(ledger, decision),
  ];
  if (parts.length === 0) return done;
  const transaction = plan(token, ...parts);
  const result = await commit(ledger, transaction);
  switch (result.kind) {
    case 'COMMITTED':
      count(ledger, source, decision);
      return done;
    case 'SEEN':
      return result.marker === undefined ? undefined : duplicate(readEventRecord(result.marker));
    case 'REFUSED':
    case 'UNCLEAR':
      return undefined;
    case 'CONFLICT':
      return { kind: 'COME_AGAIN', reason: 'CONFLICT' };
    case 'THROTTLED':
      return { kind: 'COME_AGAIN', reason: 'TABLE' };
    case 'UNKNOWN': {
      if (!(await didCommit(ledger, source, transaction))) return { kind: 'COME_AGAIN', reason: 'TABLE' };
      publish(ledger.bus, transaction);
      count(ledger, source, decision);
      return done;
    }
  }
}

function changeParts(ledger: Ledger, decision: FactDecision): readonly PlanPart[] {
  if (decision.kind !== 'CHANGE') return [];
  const { before, after, booking, aside, entry, guards } = decision;
  return [
    ...(booking === undefined ? [] : [putPayment(booking)]),
    updateOrder(before, after, ledger.settings),
    ...(aside === undefined ? [] : [putRefundAside(after, aside)]),
    ...(entry === undefined ? [] : [bookEntry(entry, guards)]),
  ];
}

interface EventFindings {
  readonly outcome: EventOutcome;
  readonly detail: string | undefined;
  readonly ref: OrderRef | undefined;
  readonly objectId: string | undefined;
}

/** The event's marker with what came of it. */
export function eventPart(
  ledger: Ledger,
  { event, overwriting }: Extract<Source, { kind: 'EVENT' }>,
  transactionId: string,
  { outcome, detail, ref, objectId }: EventFindings,
): PlanPart {
  const nowMs = ledger.clock.nowMs();
  const record: EventRecord = {
    eventId: event.eventId,
    type: event.type,
    outcome,
    livemode: event.livemode,
    occurredAtMs: event.createdS * 1000,
    processedAtMs: nowMs,
    transactionId,
    ttlS: epochS(nowMs) + EVENT_LIFE_S,
    ...defined({ objectId, detail, order: ref, tenant: ref?.tenant }),
  };
  return putEvent(record, overwriting);
}

/** After an unknown outcome only the marker tells; without one, the next look at the order will. */
async function didCommit(ledger: Ledger, source: Source, { token }: Plan): Promise<boolean> {
  if (source.kind !== 'EVENT') return false;
  const [item] = await ledger.store.get([eventKey(source.event.eventId)]);
  return item !== undefined && readEventRecord(item).transactionId === token;
}

function count(ledger: Ledger, source: Source, decision: FactDecision): void {
  if (decision.kind === 'CHANGE') for (const alert of decision.alerts ?? []) ledger.count(alert);
  else if (decision.outcome === 'MISMATCH' && source.kind === 'EVENT') ledger.count('WebhookMismatch');
}
