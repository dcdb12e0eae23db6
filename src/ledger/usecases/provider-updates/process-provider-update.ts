import type { ProviderMetadata } from '../../../provider/port.ts';
import { isSettled, readEventRecord, readRecordedPayment } from '../../items/event-item.ts';
import { readOrder } from '../../items/order-item.ts';
import { epochS } from '../../kernel/clock.ts';
import { type OrderRef, eventKey, orderKey, paymentKey } from '../../kernel/keys.ts';
import type { Order } from '../../model/orders/order.ts';
import { agreeWithRefunds } from '../../model/orders/refunds.ts';
import {
  type DecisionContext,
  type RecordedPayment,
  type UpdateDecision,
  ignored,
  mismatch,
} from '../../model/provider/update-decision.ts';
import { type CallAnswer, type Transaction, decideAndCommit } from '../runtime/decide-and-commit.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { notWritten, updateTransaction } from './commit-update.ts';
import { mendedDecision } from './mend-update.ts';
import { type OrderBooks, readOrderBooks } from './order-books.ts';
import {
  type Processed,
  type ProviderUpdate,
  type RetryLater,
  type UpdateResult,
  duplicate,
  eventTimeS,
  mendsBooks,
  orderNamedBy,
  retryLater,
} from './provider-update.ts';

/** How the objects of one kind are decided upon. */
export interface UpdateHandler {
  /** The order is there. Called again after a lost race, on what is there then. */
  readonly decide: (loaded: LoadedOrder) => DecideResult | Promise<DecideResult>;
  /** Neither a recorded payment nor metadata of ours names an order. Without it, the update isn't ours. */
  readonly identify?: () => DecideResult | Promise<DecideResult>;
}

/** The order that an update is about, and how its payment was recorded if it was. */
export interface LoadedOrder {
  readonly order: Order;
  readonly recorded: RecordedPayment | undefined;
  /** All that the table has of it, where its copies of one thing are to agree again. */
  readonly books?: OrderBooks | undefined;
}

/** What a handler decides on what was just read. */
export type DecideResult =
  | UpdateDecision
  /** The order isn't as far as the update yet: it must come again while it is fresh, then it is a mismatch. */
  | { readonly kind: 'NOT_YET'; readonly detail: string }
  /** Something was written meanwhile, or it is known now which order the payment names: read again. */
  | { readonly kind: 'REREAD'; readonly metadata?: ProviderMetadata }
  | RetryLater;

/** How long an event may be ahead of what we write (docs/DESIGN.md §8). */
const FRESH_S = 3_600;

/**
 * Loads what an update is about, has it decided upon, and commits the whole effect: the event's record first, the payment
 * item, the order, the entry with its balances. Used alike by webhooks, by the sweeper and by reconciliation.
 */
export async function processProviderUpdate(
  ledger: Ledger,
  received: ProviderUpdate,
  handler: UpdateHandler,
): Promise<UpdateResult> {
  let update = received;
  return decideAndCommit<UpdateResult>(ledger, {
    decide: async (_sent, isLast) => {
      const step = await decideOnce(ledger, update, isLast ? withoutGuards(handler) : handler);
      if (step.kind === 'REREAD') update = { ...update, metadata: step.metadata ?? update.metadata };
      return step;
    },
    failed: notWritten,
  });
}

/**
 * An update is recorded in the end, also on a wallet that moves all the time: what was read of it is taken if it is still
 * there, and what has come since stays while the rest is owed.
 */
function withoutGuards({ decide, ...handler }: UpdateHandler): UpdateHandler {
  return {
    ...handler,
    decide: async (loaded) => {
      const decision = await decide(loaded);
      return decision.kind === 'CHANGE' ? { ...decision, guards: {} } : decision;
    },
  };
}

async function decideOnce(
  ledger: Ledger,
  update: ProviderUpdate,
  handler: UpdateHandler,
): Promise<CallAnswer<UpdateResult> | Transaction<UpdateResult> | Extract<DecideResult, { kind: 'REREAD' }>> {
  const context = mendsBooks(update.source)
    ? await loadBooks(ledger, update)
    : await loadContext(ledger, update);
  if (context.kind !== 'LOADED') return { kind: 'ANSWER', answer: context };
  const decision = await decideOn(ledger, update, handler, context);
  switch (decision.kind) {
    case 'REREAD':
      return decision;
    case 'RETRY_LATER':
      return { kind: 'ANSWER', answer: decision };
    case 'NOT_YET':
      if (isFresh(ledger, update)) return { kind: 'ANSWER', answer: retryLater('NOT_YET') };
      return updateTransaction(ledger, update, context.ref, mismatch(decision.detail));
    case 'CHANGE':
    case 'NO_CHANGE':
      return updateTransaction(
        ledger,
        update,
        context.ref,
        completed(ledger, update, decision, context.books),
        context.books,
      );
  }
}

/** The provider's object is known by its own id, or by the one of ours that it names. */
function completed(
  ledger: Ledger,
  { objectId, paymentId, metadata }: ProviderUpdate,
  decision: UpdateDecision,
  books: OrderBooks | undefined,
): UpdateDecision {
  if (books === undefined) return decision;
  const ids = [objectId, metadata.refundId ?? paymentId].filter((id) => id !== undefined);
  return mendedDecision(books, decision, ids, decisionContext(ledger));
}

/** What the table knows of an update. */
interface UpdateContext {
  readonly kind: 'LOADED';
  /** The order that is meant, whether it is there or not. */
  readonly ref?: OrderRef | undefined;
  readonly order?: Order | undefined;
  readonly recorded?: RecordedPayment | undefined;
  readonly books?: OrderBooks | undefined;
}

async function loadBooks(
  ledger: Ledger,
  { paymentId, metadata }: ProviderUpdate,
): Promise<UpdateContext | RetryLater> {
  const books = await readOrderBooks(ledger, paymentId, orderNamedBy(metadata));
  if (books === 'MOVING') return retryLater('CONFLICT');
  if (books === undefined) return { kind: 'LOADED' };
  const { ref, recorded, refunds } = books;
  // Decided on as its refunds say; it is written on the condition of what was read.
  const order =
    books.order === undefined ? undefined : agreeWithRefunds(books.order, refunds, ledger.clock.nowMs());
  return { kind: 'LOADED', ref, order, recorded, books };
}

/** One consistent read of the event's record, the payment item and the order that the metadata names. */
async function loadContext(
  ledger: Ledger,
  { source, paymentId, metadata }: ProviderUpdate,
): Promise<UpdateContext | Processed> {
  const named = orderNamedBy(metadata);
  const keys = [
    source.kind === 'EVENT' ? eventKey(source.event.eventId) : undefined,
    paymentId === undefined ? undefined : paymentKey(paymentId),
    named === undefined ? undefined : orderKey(named),
  ];
  const items = [...(await ledger.store.get(keys.filter((key) => key !== undefined)))];
  const [eventItem, paymentItem, orderItem] = keys.map((key) =>
    key === undefined ? undefined : items.shift(),
  );
  if (eventItem !== undefined && source.kind === 'EVENT') {
    const record = readEventRecord(eventItem);
    if (isSettled(record, source.overwriting, epochS(ledger.clock.nowMs()))) return duplicate(record);
  }
  const recorded = paymentItem === undefined ? undefined : readRecordedPayment(paymentItem);
  if (recorded === undefined || (named !== undefined && sameOrder(recorded, named))) {
    const order = orderItem === undefined ? undefined : readOrder(orderItem);
    return { kind: 'LOADED', ref: named, order, recorded };
  }
  const order = await readItem(ledger, orderKey(recorded), readOrder);
  return { kind: 'LOADED', ref: recorded, order, recorded };
}

function sameOrder(one: OrderRef, other: OrderRef): boolean {
  return one.tenant === other.tenant && one.accountId === other.accountId && one.orderId === other.orderId;
}

/** What holds for every kind of object; the rest is its handler's. */
async function decideOn(
  { provider }: Ledger,
  { source, livemode = provider.livemode }: ProviderUpdate,
  handler: UpdateHandler,
  { ref, order, recorded, books }: UpdateContext,
): Promise<DecideResult> {
  const isOfOurMode =
    livemode === provider.livemode &&
    (source.kind === 'LOOKUP' || source.event.livemode === provider.livemode);
  if (ref === undefined) {
    return handler.identify === undefined || !isOfOurMode ? ignored('not of ours') : handler.identify();
  }
  if (!isOfOurMode) return mismatch('of another mode');
  if (order === undefined) return { kind: 'NOT_YET', detail: 'no such order' };
  return handler.decide({ order, recorded, books });
}

function isFresh(ledger: Ledger, { source }: ProviderUpdate): boolean {
  const createdS = eventTimeS(source);
  return createdS !== undefined && epochS(ledger.clock.nowMs()) - createdS < FRESH_S;
}

/** What every decision needs: the time, and an id for the entry that it may make. */
export function decisionContext({ clock, ids, followUps }: Ledger): DecisionContext {
  const atMs = clock.nowMs();
  return { atMs, entryId: ids.ulid(atMs), stepNames: followUps };
}
