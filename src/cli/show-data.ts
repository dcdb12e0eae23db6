import { isoInstant } from '../ledger/kernel/clock.ts';
import { defined } from '../ledger/kernel/defined.ts';
import type { Entry } from '../ledger/model/entries/entry.ts';
import { type AccountRef, assetOfBalanceType } from '../ledger/kernel/keys.ts';
import { plainDecimal } from '../ledger/kernel/money.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import type { WholeAccount, WholeOrder } from '../ledger/usecases/queries/read-account.ts';
import type { Balance } from '../ledger/usecases/queries/read-wallets.ts';
import type { Order, Refund } from '../ledger/model/orders/order.ts';
import type { EventRecord } from '../ledger/items/event-item.ts';
import type { Movement } from '../migrations/history.ts';

/*
 * What `npm run show` shows, as data: texts and numbers, amounts as plain decimals, instants in ISO form. Named field by field,
 * so that what claims hold (owners, keys, pages) doesn't come along.
 */

export type OrderData = ReturnType<typeof orderData>;
export type EntryData = ReturnType<typeof entryData>;
export type EventData = ReturnType<typeof eventData>;
export type BalanceData = ReturnType<typeof balanceData>;
export type MovementData = ReturnType<typeof movementData>;

/** All that `npm run show` has found; what it wasn't asked about is absent. */
export interface Shown {
  readonly event?: EventData;
  readonly account?: string;
  readonly order?: OrderData;
  readonly orders?: readonly OrderSummary[];
  readonly entries?: readonly EntryData[];
  /** How the account's balances moved last, also before they had entries. */
  readonly movements?: readonly MovementData[];
  readonly balances?: readonly BalanceData[];
  /** Events about the order that matched nothing or could not be applied. */
  readonly problems?: readonly EventData[];
}

export interface OrderSummary {
  readonly id: string;
  readonly kind: Order['kind'];
  readonly state: Order['state'];
  readonly amount: string;
  readonly currency: string;
  readonly createdAt: string;
}

export function wholeOrderData({ order, entries, overflow, balances, problems }: WholeOrder): Shown {
  return {
    order: orderData(order, overflow),
    entries: entries.map(entryData),
    account: accountName(order),
    balances: balances.map(balanceData),
    problems: problems.map(eventData),
  };
}

export function wholeAccountData(
  ref: AccountRef,
  { balances, orders, entries }: WholeAccount,
  movements: readonly Movement[],
): Shown {
  return {
    account: accountName(ref),
    balances: balances.map(balanceData),
    orders: orders.map(orderSummary),
    entries: entries.map(entryData),
    movements: movements.map(movementData),
  };
}

/** What is kept of an event, to be shown before the order that it is about. */
export function foundEvent(event: EventRecord): Shown {
  return { event: eventData(event) };
}

function eventData(event: EventRecord) {
  const { eventId, type, outcome, livemode, occurredAtMs, processedAtMs, objectId, order, detail } = event;
  return {
    eventId,
    type,
    outcome,
    livemode,
    occurredAt: isoInstant(occurredAtMs),
    processedAt: isoInstant(processedAtMs),
    ...defined({ objectId, detail, orderId: order === undefined ? undefined : orderNodeId(order) }),
  };
}

function accountName({ tenant, accountId }: AccountRef): string {
  return `${tenant}#${accountId}`;
}

function orderSummary(order: Order): OrderSummary {
  const { kind, state, amount, currency, createdAtMs } = order;
  const createdAt = isoInstant(createdAtMs);
  return { id: orderNodeId(order), kind, state, amount: plainDecimal(amount), currency, createdAt };
}

function orderData(order: Order, overflow: readonly Refund[]) {
  const { tenant, accountId, orderId, version, merchantId, asset, actor, payment, unlistedNotes } = order;
  return {
    ...orderSummary(order),
    tenant,
    accountId,
    orderId,
    version,
    ...defined({ merchantId, asset }),
    actor,
    updatedAt: isoInstant(order.updatedAtMs),
    refundable: plainDecimal(order.refundable),
    refunded: plainDecimal(order.refunded),
    refundPending: plainDecimal(order.refundPending),
    receivable: plainDecimal(order.receivable),
    ...(payment !== undefined && { payment: paymentData(payment) }),
    lines: order.lines.map(({ sku, name, quantity, amount }) => ({
      ...defined({ sku }),
      name,
      quantity,
      amount: plainDecimal(amount),
    })),
    ...paperwork(order),
    overflowRefunds: overflow.map(refundData),
    overflowRefundsNotFound: (order.overflow?.count ?? 0) - overflow.length,
    steps: order.steps.map(({ name, state, attempts, nextAttemptAtMs, lastError }) => ({
      name,
      state,
      attempts,
      ...(state === 'PENDING' && { nextAttemptAt: isoInstant(nextAttemptAtMs) }),
      ...defined({ lastError }),
    })),
    timeline: order.timeline.map(({ atMs, ...transition }) => ({ ...transition, at: isoInstant(atMs) })),
    unlistedNotes,
  };
}

/** What was tried and what came of it at the provider. */
function paperwork({ attempts, refunds, disputes, overpayments }: Order) {
  return {
    attempts: attempts.map(({ number, state, tries, sessionId, paymentId, expiresAtMs }) => ({
      number,
      state,
      tries,
      expiresAt: isoInstant(expiresAtMs),
      ...defined({ sessionId, paymentId }),
    })),
    refunds: refunds.map(refundData),
    disputes: disputes.map(({ amount, ...dispute }) => ({ ...dispute, amount: plainDecimal(amount) })),
    overpayment: overpayments.map(({ paymentId, amount, refunded }) => ({
      paymentId,
      amount: plainDecimal(amount),
      refunded: plainDecimal(refunded),
    })),
  };
}

function refundData(refund: Refund) {
  const { refundId, amount, state, source, actor, createdAtMs } = refund;
  const { reason, failureReason, paymentId, providerRefundId, entryId } = refund;
  return {
    refundId,
    amount: plainDecimal(amount),
    state,
    source,
    actor,
    createdAt: isoInstant(createdAtMs),
    ...defined({ reason, failureReason, paymentId, providerRefundId, entryId }),
  };
}

function paymentData({ method, atMs, asset, paymentId, terminalId }: NonNullable<Order['payment']>) {
  return { method, at: isoInstant(atMs), ...defined({ asset, paymentId, terminalId }) };
}

function entryData(entry: Entry) {
  const { entryId, operation, atMs, actor, refundId, providerId, reason, orderId } = entry;
  return {
    entryId,
    operation,
    at: isoInstant(atMs),
    actor,
    ...defined({
      orderId: orderId === undefined ? undefined : orderNodeId({ ...entry, orderId }),
      refundId,
      providerId,
      reason,
    }),
    postings: entry.postings.map(({ debit, credit, asset, amount }) => ({
      debit,
      credit,
      asset,
      amount: plainDecimal(amount),
    })),
  };
}

/** One movement of one balance, and the item that tells of it. */
function movementData({ type, atMs, kind, amount, key }: Movement) {
  return {
    at: isoInstant(atMs),
    asset: assetOfBalanceType(type),
    amount: plainDecimal(amount),
    kind,
    item: key,
  };
}

function balanceData({ asset, amount }: Balance) {
  return { asset, amount: plainDecimal(amount) };
}
