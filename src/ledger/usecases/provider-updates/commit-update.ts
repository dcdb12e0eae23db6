import { epochS } from '../../kernel/clock.ts';
import { defined } from '../../kernel/defined.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import { type OrderRef, eventKey } from '../../kernel/keys.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { type PlanPart, plan } from '../../items/plan.ts';
import {
  EVENT_LIFE_S,
  type EventRecord,
  putEvent,
  putPayment,
  readEventRecord,
} from '../../items/event-item.ts';
import type { UpdateDecision, EventOutcome } from '../../model/provider/update-decision.ts';
import { type Answer, type Failure, REREAD, type Transaction } from '../runtime/decide-and-commit.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { type UpdateResult, type UpdateSource, type UpdateSubject, duplicate } from './provider-update.ts';
import { putOverflowRefund } from '../../items/overflow-refund-item.ts';

/**
 * All that an update does, as one transaction: the event's record first, the payment item, the order, the refund
 * beside it, the entry with its balances. An answer at once where there is nothing to write.
 */
export function updateTransaction(
  ledger: Ledger,
  source: UpdateSource,
  subject: UpdateSubject,
  ref: OrderRef | undefined,
  decision: UpdateDecision,
): Answer<UpdateResult> | Transaction<UpdateResult> {
  const outcome: EventOutcome = decision.kind === 'CHANGE' ? 'APPLIED' : decision.outcome;
  const detail = decision.kind === 'CHANGE' ? undefined : decision.detail;
  const done: UpdateResult = { kind: 'DONE', outcome, duplicate: false, order: ref, detail };
  const token = ledger.ids.token();
  const parts = [
    ...(source.kind === 'EVENT'
      ? [eventPart(ledger, source, token, { outcome, detail, ref, objectId: subject.objectId })]
      : []),
    ...changeParts(ledger, decision),
  ];
  if (parts.length === 0) return { kind: 'ANSWER', answer: done };
  const transaction: Transaction<UpdateResult> = {
    kind: 'COMMIT',
    plan: plan(token, ...parts),
    committed: () => {
      count(ledger, source, decision);
      return done;
    },
    whenNotWritten: (result) =>
      result.kind === 'SEEN' && result.record !== undefined
        ? { kind: 'ANSWER', answer: duplicate(readEventRecord(result.record)) }
        : REREAD,
    resolve: async () =>
      (await didCommit(ledger, source, token))
        ? { kind: 'COMMITTED', transaction }
        : { kind: 'ANSWER', answer: retryLater('THROTTLED') },
  };
  return transaction;
}

/** What an update answers that couldn't be written: it must come again. */
export function retryLater(failure: Failure): UpdateResult {
  return { kind: 'RETRY_LATER', reason: failure === 'CONFLICT' ? 'CONFLICT' : 'TABLE' };
}

function changeParts(ledger: Ledger, decision: UpdateDecision): readonly PlanPart[] {
  if (decision.kind !== 'CHANGE') return [];
  const { before, after, recorded, overflow, entry, guards } = decision;
  return [
    ...(recorded === undefined ? [] : [putPayment(recorded)]),
    updateOrder(before, after, ledger.settings),
    ...(overflow === undefined ? [] : [putOverflowRefund(after, overflow)]),
    ...(entry === undefined ? [] : [recordEntry(entry, guards)]),
  ];
}

interface EventFindings {
  readonly outcome: EventOutcome;
  readonly detail: string | undefined;
  readonly ref: OrderRef | undefined;
  readonly objectId: string | undefined;
}

/** The event's record with what came of it. */
export function eventPart(
  ledger: Ledger,
  { event, overwriting }: Extract<UpdateSource, { kind: 'EVENT' }>,
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

/** After an unknown outcome only the record tells; without one, the next look at the order will. */
async function didCommit(ledger: Ledger, source: UpdateSource, token: string): Promise<boolean> {
  if (source.kind !== 'EVENT') return false;
  const [item] = await ledger.store.get([eventKey(source.event.eventId)]);
  return item !== undefined && readEventRecord(item).transactionId === token;
}

function count(ledger: Ledger, source: UpdateSource, decision: UpdateDecision): void {
  if (decision.kind === 'CHANGE') for (const alert of decision.alerts ?? []) ledger.count(alert);
  else if (decision.outcome === 'MISMATCH' && source.kind === 'EVENT') ledger.count('WebhookMismatch');
}
