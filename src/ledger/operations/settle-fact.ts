import type { ProviderEvent, ProviderMetadata } from '../../stripe/port.ts';
import { epochS } from '../clock.ts';
import { defined } from '../defined.ts';
import { bookEntry } from '../entry-writes.ts';
import {
  EVENT_LIFE_S,
  type EventOutcome,
  type EventRecord,
  type Overwriting,
  type PaymentBooking,
  isSettled,
  putEvent,
  putPayment,
  readEventRecord,
  readPaymentBooking,
} from '../provider/event-item.ts';
import { type OrderRef, eventKey, orderKey, paymentKey } from '../keys.ts';
import { readOrder } from '../orders/order-item.ts';
import { updateOrder } from '../orders/order-writes.ts';
import type { Order } from '../orders/order.ts';
import { type Plan, type PlanPart, plan } from '../plan.ts';
import { type FactDecision, ignored, mismatch } from '../provider/provider-facts.ts';
import { putRefundAside } from '../provider/refunds-aside.ts';
import { TableUnavailableError } from '../store.ts';
import { type Ledger, commit, publish } from './ledger.ts';

/** Who tells of a fact. What an event does commits together with the event's marker. */
export type Source =
  | { readonly kind: 'EVENT'; readonly event: ProviderEvent; readonly overwriting: Overwriting }
  /** We asked the provider ourselves; `createdS` where an event made us ask. */
  | { readonly kind: 'ASKED'; readonly createdS?: number };

/** How telling a fact ended. */
export type Settled =
  | {
      readonly kind: 'DONE';
      readonly outcome: EventOutcome;
      /** The event had been taken up before: nothing was done now. */
      readonly duplicate: boolean;
      readonly order?: OrderRef | undefined;
      readonly detail?: string | undefined;
    }
  /** Nothing was done, and it must be told again. */
  | { readonly kind: 'COME_AGAIN'; readonly reason: ComeAgainReason };

/** NOT_YET: of an order or attempt that is still being written. The others: what couldn't be reached or was contended. */
export type ComeAgainReason = 'NOT_YET' | 'PROVIDER' | 'CONFLICT' | 'TABLE';

/** What a fact is about, as it says itself. */
export interface Subject {
  /** What the payment is booked under, where the fact names one. */
  readonly paymentId: string | undefined;
  readonly metadata: ProviderMetadata;
  readonly objectId: string | undefined;
  readonly livemode: boolean;
}

/** An order that a fact is about, and how its payment was booked if it was. */
export interface Known {
  readonly order: Order;
  readonly booking: PaymentBooking | undefined;
}

/** What an operation makes of a fact, on what was just read. */
export type Judgement =
  | FactDecision
  /** The order isn't as far as the fact yet: it must come again while it is fresh, then it is a mismatch. */
  | { readonly kind: 'NOT_YET'; readonly detail: string }
  /** Something was written meanwhile, or it is known now which order the payment names: read again. */
  | { readonly kind: 'READ_AGAIN'; readonly metadata?: ProviderMetadata }
  | { readonly kind: 'COME_AGAIN'; readonly reason: ComeAgainReason };

export interface Judge {
  /** The order is there. Called again after a lost race, on what is there then. */
  readonly known: (known: Known) => Judgement | Promise<Judgement>;
  /** Neither a payment item nor metadata of ours names an order. */
  readonly foreign?: () => Judgement | Promise<Judgement>;
}

/** A lost race reads again and decides again, this often at most. */
const MAX_DECISIONS = 5;
/** How long an event may be ahead of what we write (docs/DESIGN.md §8). */
const FRESH_S = 3_600;

/**
 * Reads what a fact is about, has it judged, and commits the whole effect: the event's marker first, the payment item,
 * the order, the entry with its balances. Used alike by webhooks, by the sweeper and by reconciliation.
 */
export async function settleFact(
  ledger: Ledger,
  source: Source,
  subject: Subject,
  judge: Judge,
): Promise<Settled> {
  try {
    let about = subject;
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const isLast = decisions === MAX_DECISIONS - 1;
      const settled = await settleOnce(ledger, source, about, isLast ? withoutGuards(judge) : judge);
      if (settled?.kind === 'READ_AGAIN') about = { ...about, metadata: settled.metadata ?? about.metadata };
      else if (settled !== undefined) return settled;
    }
    return { kind: 'COME_AGAIN', reason: 'CONFLICT' };
  } catch (error) {
    if (error instanceof TableUnavailableError) return { kind: 'COME_AGAIN', reason: 'TABLE' };
    throw error;
  }
}

/**
 * A fact is booked in the end, also on a wallet that moves all the time: what was read of it is taken if it's still
 * there, and what has come since stays while the rest is owed.
 */
function withoutGuards(judge: Judge): Judge {
  return {
    ...judge,
    known: async (known) => {
      const judgement = await judge.known(known);
      return judgement.kind === 'CHANGE' ? { ...judgement, guards: {} } : judgement;
    },
  };
}

async function settleOnce(
  ledger: Ledger,
  source: Source,
  subject: Subject,
  judge: Judge,
): Promise<Settled | Extract<Judgement, { kind: 'READ_AGAIN' }> | undefined> {
  const read = await look(ledger, source, subject);
  if (read.seen !== undefined) return read.seen;
  const judgement = await judged(ledger, source, subject, judge, read);
  switch (judgement.kind) {
    case 'READ_AGAIN':
    case 'COME_AGAIN':
      return judgement;
    case 'NOT_YET':
      if (isFresh(ledger, source)) return { kind: 'COME_AGAIN', reason: 'NOT_YET' };
      return commitDecision(ledger, source, subject, read.ref, mismatch(judgement.detail));
    case 'CHANGE':
    case 'NO_CHANGE':
      return commitDecision(ledger, source, subject, read.ref, judgement);
  }
}

interface Look {
  readonly seen?: Settled | undefined;
  /** The order that is meant, whether it is there or not. */
  readonly ref?: OrderRef | undefined;
  readonly order?: Order | undefined;
  readonly booking?: PaymentBooking | undefined;
}

/** One consistent read of the event's marker, the payment item and the order that the metadata names. */
async function look(ledger: Ledger, source: Source, subject: Subject): Promise<Look> {
  const named = orderNamedBy(subject.metadata);
  const keys = {
    event: source.kind === 'EVENT' ? [eventKey(source.event.eventId)] : [],
    payment: subject.paymentId === undefined ? [] : [paymentKey(subject.paymentId)],
    order: named === undefined ? [] : [orderKey(named)],
  };
  const items = [...(await ledger.store.get([...keys.event, ...keys.payment, ...keys.order]))];
  const eventItem = keys.event.length === 0 ? undefined : items.shift();
  const paymentItem = keys.payment.length === 0 ? undefined : items.shift();
  const orderItem = items.shift();
  if (eventItem !== undefined && source.kind === 'EVENT') {
    const record = readEventRecord(eventItem);
    if (isSettled(record, source.overwriting, epochS(ledger.clock.nowMs())))
      return { seen: duplicate(record) };
  }
  const booking = paymentItem === undefined ? undefined : readPaymentBooking(paymentItem);
  if (booking === undefined || (named !== undefined && sameOrder(booking, named))) {
    return { ref: named, order: orderItem === undefined ? undefined : readOrder(orderItem), booking };
  }
  const [booked] = await ledger.store.get([orderKey(booking)]);
  return { ref: booking, order: booked === undefined ? undefined : readOrder(booked), booking };
}

/** The order that metadata of ours names. It says where to look, never whose the money is. */
export function orderNamedBy({ tenant, orderId: path }: ProviderMetadata): OrderRef | undefined {
  const [accountId, orderId] = path?.split('/') ?? [];
  return tenant === undefined || accountId === undefined || orderId === undefined
    ? undefined
    : { tenant, accountId, orderId };
}

function sameOrder(one: OrderRef, other: OrderRef): boolean {
  return one.tenant === other.tenant && one.accountId === other.accountId && one.orderId === other.orderId;
}

async function judged(
  ledger: Ledger,
  source: Source,
  subject: Subject,
  judge: Judge,
  { ref, order, booking }: Look,
): Promise<Judgement> {
  const isOfOurMode =
    subject.livemode === ledger.provider.livemode &&
    (source.kind === 'ASKED' || source.event.livemode === ledger.provider.livemode);
  if (ref === undefined) {
    return judge.foreign === undefined || !isOfOurMode ? ignored('not of ours') : judge.foreign();
  }
  if (!isOfOurMode) return mismatch('of another mode');
  if (order === undefined) return { kind: 'NOT_YET', detail: 'no such order' };
  return judge.known({ order, booking });
}

function isFresh(ledger: Ledger, source: Source): boolean {
  const createdS = source.kind === 'EVENT' ? source.event.createdS : source.createdS;
  return createdS !== undefined && epochS(ledger.clock.nowMs()) - createdS < FRESH_S;
}

async function commitDecision(
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

function duplicate({ outcome, order, detail }: EventRecord): Settled {
  return { kind: 'DONE', outcome, duplicate: true, order, detail };
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
