import { recordEntry, recordMissingEntry } from '../../items/entry-writes.ts';
import { EVENT_LIFE_S, checkPayment, putEvent, putPayment, readEventRecord } from '../../items/event-item.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { putRefund } from '../../items/refund-item.ts';
import { type PlanPart, plan } from '../../items/plan.ts';
import { epochS } from '../../kernel/clock.ts';
import { defined } from '../../kernel/defined.ts';
import { type OrderRef, eventKey } from '../../kernel/keys.ts';
import type { EventOutcome, UpdateDecision } from '../../model/provider/update-decision.ts';
import {
  type CallAnswer,
  type CommitFailure,
  REREAD,
  type Transaction,
} from '../runtime/decide-and-commit.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import type { OrderBooks } from './order-books.ts';
import { type ProviderUpdate, type UpdateResult, duplicate, retryLater } from './provider-update.ts';

/**
 * All that an update does, as one transaction: the event's record first, the payment item, the order, the refund,
 * the entry with its balances. An answer at once where there is nothing to write.
 * @param ref the order that the update is about, whether it is there or not
 * @param books what the table has of it, where the decision was completed by that
 */
export function updateTransaction(
  ledger: Ledger,
  update: ProviderUpdate,
  ref: OrderRef | undefined,
  decision: UpdateDecision,
  books?: OrderBooks,
): CallAnswer<UpdateResult> | Transaction<UpdateResult> {
  const { outcome, detail } =
    decision.kind === 'CHANGE' ? ({ outcome: 'APPLIED', detail: undefined } as const) : decision;
  const done: UpdateResult = { kind: 'DONE', outcome, duplicate: false, order: ref, detail };
  const token = ledger.ids.token();
  const parts = [
    ...eventParts(ledger, update, token, { outcome, detail, order: ref }),
    ...changeParts(ledger, decision, books),
  ];
  if (parts.length === 0) return { kind: 'ANSWER', answer: done };
  const transaction: Transaction<UpdateResult> = {
    kind: 'COMMIT',
    plan: plan(token, ...parts),
    committed: () => {
      count(ledger, update, decision);
      return done;
    },
    whenNotWritten: (result) =>
      result.kind === 'SEEN' && result.record !== undefined
        ? { kind: 'ANSWER', answer: duplicate(readEventRecord(result.record)) }
        : REREAD,
    resolve: async () =>
      (await didCommit(ledger, update, token))
        ? { kind: 'COMMITTED', transaction }
        : { kind: 'ANSWER', answer: notWritten('THROTTLED') },
  };
  return transaction;
}

/** The result of an update that couldn't be written: it must come again. */
export function notWritten(failure: CommitFailure): UpdateResult {
  return retryLater(failure === 'CONFLICT' ? 'CONFLICT' : 'TABLE');
}

function changeParts(ledger: Ledger, decision: UpdateDecision, books?: OrderBooks): readonly PlanPart[] {
  if (decision.kind !== 'CHANGE') return [];
  const { before, after, recorded, refund, entry, guards } = decision;
  const known = books?.recorded;
  return [
    ...(recorded === undefined ? [] : [putPayment(recorded)]),
    ...(known === undefined ? [] : [checkPayment(known)]),
    updateOrder(before, after, ledger.settings),
    ...(refund === undefined ? [] : [putRefund({ order: after, refund })]),
    ...(entry === undefined
      ? []
      : [books === undefined ? recordEntry(entry, guards) : recordMissingEntry(entry, books.wallet)]),
  ];
}

/** What an event's record says of how processing it ended. */
interface EventEnd {
  readonly outcome: EventOutcome;
  readonly detail: string | undefined;
  readonly order: OrderRef | undefined;
}

/** The event's record; nothing for what we looked up ourselves. */
export function eventParts(
  ledger: Ledger,
  { source, objectId }: ProviderUpdate,
  transactionId: string,
  { outcome, detail, order }: EventEnd,
): readonly PlanPart[] {
  if (source.kind !== 'EVENT') return [];
  const { eventId, type, livemode, createdS } = source.event;
  const processedAtMs = ledger.clock.nowMs();
  const record = {
    eventId,
    type,
    outcome,
    livemode,
    occurredAtMs: createdS * 1000,
    processedAtMs,
    transactionId,
    ttlS: epochS(processedAtMs) + EVENT_LIFE_S,
    ...defined({ objectId, detail, order, tenant: order?.tenant }),
  };
  return [putEvent(record, source.overwriting)];
}

/** After an unknown outcome only the event's record tells; without one, the next look at the order will. */
async function didCommit(ledger: Ledger, { source }: ProviderUpdate, token: string): Promise<boolean> {
  if (source.kind !== 'EVENT') return false;
  const record = await readItem(ledger, eventKey(source.event.eventId), readEventRecord);
  return record?.transactionId === token;
}

function count(ledger: Ledger, { source }: ProviderUpdate, decision: UpdateDecision): void {
  if (decision.kind === 'CHANGE') for (const alert of decision.alerts ?? []) ledger.count(alert);
  else if (decision.outcome === 'MISMATCH' && source.kind === 'EVENT') ledger.count('WebhookMismatch');
}
