import { isoInstant } from '../ledger/kernel/clock.ts';
import { defined } from '../ledger/kernel/defined.ts';
import type { Entry } from '../ledger/model/entries/entry.ts';
import { type AccountRef, assetOfBalanceType } from '../ledger/kernel/keys.ts';
import { type Decimal, isDecimal, plainDecimal } from '../ledger/kernel/money.ts';
import { encodeNodeId, orderNodeId } from '../ledger/items/node-ids.ts';
import type { WholeAccount, WholeOrder } from '../ledger/usecases/queries/read-account.ts';
import type { Balance } from '../ledger/usecases/queries/read-wallets.ts';
import type { Order, Refund } from '../ledger/model/orders/order.ts';
import type { EventRecord } from '../ledger/items/event-item.ts';
import { type Proposal, proposalState } from '../ledger/model/proposal.ts';
import type { Movement } from '../migrations/history.ts';

/*
 * What `npm run show` shows, as data: texts and numbers, amounts as plain decimals, instants in ISO form. Each field is named
 * here, so that nothing else of an item (owners, keys, pages) is shown.
 */

export type OrderSummary = ReturnType<typeof orderSummary>;
export type OrderData = ReturnType<typeof orderData>;
export type EntryData = ReturnType<typeof entryData>;
export type EventData = ReturnType<typeof eventData>;
export type ProposalData = ReturnType<typeof proposalData>;
export type BalanceData = ReturnType<typeof balanceData>;
export type MovementData = ReturnType<typeof movementData>;

/** All that `npm run show` has found; what it wasn't asked about is absent. */
export interface Shown {
  readonly event?: EventData;
  readonly proposal?: ProposalData;
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

export function wholeOrderData({ order, refunds, entries, balances, problems }: WholeOrder): Shown {
  return {
    order: orderData(order, refunds),
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

/** A proposal with the exact writes that it makes. */
export function foundProposal(proposal: Proposal, nowMs: number): Shown {
  return { proposal: proposalData(proposal, nowMs) };
}

type Field = string | number | boolean | Decimal | undefined;

/** `createdAtMs` is shown as `createdAt`. */
type ShownName<Name> = Name extends `${infer Base}Ms` ? Base : Name;
type ShownValue<Name, Value> = Name extends `${string}Ms` ? string : Value extends Decimal ? string : Value;

/** The named fields of an item, in this order, as they are shown; those that it doesn't have are left out. */
function fieldsOf<Name extends string, Item extends Readonly<Partial<Record<Name, Field>>>>(
  item: Item,
  ...names: readonly Name[]
) {
  const shown = names.flatMap((name): readonly (readonly [string, Field])[] => {
    const value: Field = item[name];
    if (value === undefined) return [];
    if (name.endsWith('Ms')) return [[name.slice(0, -2), isoInstant(Number(value))]];
    return [[name, isDecimal(value) ? plainDecimal(value) : value]];
  });
  type Fields = {
    readonly [Each in keyof Pick<Item, Name> as ShownName<Each>]: ShownValue<
      Each,
      Exclude<Item[Each], undefined>
    >;
  };
  // fromEntries forgets the names; they are those of `names`.
  return Object.fromEntries(shown) as Fields;
}

function eventData(event: EventRecord) {
  const { order } = event;
  return {
    ...fieldsOf(event, 'eventId', 'type', 'outcome', 'livemode', 'occurredAtMs', 'processedAtMs'),
    ...fieldsOf(event, 'objectId', 'detail'),
    ...defined({ orderId: order === undefined ? undefined : orderNodeId(order) }),
  };
}

function proposalData(proposal: Proposal, nowMs: number) {
  const { adjustment, repair, decision } = proposal;
  return {
    id: encodeNodeId('Proposal', proposal.tenant, proposal.accountId, proposal.proposalId),
    account: accountName(proposal),
    state: proposalState(proposal, nowMs),
    ...(adjustment !== undefined && fieldsOf(adjustment, 'asset', 'amount')),
    ...(repair !== undefined && { finding: repair.finding }),
    ...fieldsOf(proposal, 'reason', 'proposer', 'proposedAtMs', 'expiresAtMs'),
    ...(decision !== undefined && { decision: fieldsOf(decision, 'by', 'atMs', 'reason', 'entryId') }),
    writes: (repair?.writes ?? []).map((write) => fieldsOf(write, 'uuid', 'type', 'before', 'after')),
  };
}

function accountName({ tenant, accountId }: AccountRef): string {
  return `${tenant}#${accountId}`;
}

function orderSummary(order: Order) {
  const fields = fieldsOf(order, 'kind', 'state', 'amount', 'currency', 'createdAtMs');
  return { id: orderNodeId(order), ...fields };
}

function orderData(order: Order, refunds: readonly Refund[]) {
  const { payment, disputes, steps, timeline } = order;
  return {
    ...orderSummary(order),
    ...fieldsOf(
      order,
      'tenant',
      'accountId',
      'orderId',
      'version',
      'merchantId',
      'asset',
      'actor',
      'updatedAtMs',
    ),
    ...fieldsOf(order, 'refundable', 'refunded', 'refundPending'),
    receivable: plainDecimal(order.receivable),
    ...(payment !== undefined && {
      payment: fieldsOf(payment, 'method', 'atMs', 'asset', 'paymentId', 'terminalId'),
    }),
    lines: order.lines.map((line) => fieldsOf(line, 'sku', 'name', 'quantity', 'amount')),
    attempts: order.attempts.map((attempt) =>
      fieldsOf(attempt, 'number', 'state', 'tries', 'expiresAtMs', 'sessionId', 'paymentId'),
    ),
    refunds: refunds.map(refundData),
    disputes: disputes.map(({ amount, ...dispute }) => ({ ...dispute, amount: plainDecimal(amount) })),
    overpayment: order.overpayments.map((one) => fieldsOf(one, 'paymentId', 'amount', 'refunded')),
    steps: steps.map((step) => ({
      ...fieldsOf(step, 'name', 'state', 'attempts'),
      ...(step.state === 'PENDING' && fieldsOf(step, 'nextAttemptAtMs')),
      ...fieldsOf(step, 'lastError'),
    })),
    timeline: timeline.map(({ atMs, ...transition }) => ({ ...transition, at: isoInstant(atMs) })),
    unlistedNotes: order.unlistedNotes,
  };
}

function refundData(refund: Refund) {
  return {
    ...fieldsOf(refund, 'refundId', 'amount', 'state', 'source', 'actor', 'createdAtMs'),
    ...fieldsOf(refund, 'reason', 'failureReason', 'paymentId', 'providerRefundId', 'entryId'),
    ...fieldsOf(refund, 'tries', 'triedAtMs', 'lookedAtMs'),
  };
}

function entryData(entry: Entry) {
  const { orderId } = entry;
  return {
    ...fieldsOf(entry, 'entryId', 'operation', 'atMs', 'actor'),
    ...defined({ orderId: orderId === undefined ? undefined : orderNodeId({ ...entry, orderId }) }),
    ...fieldsOf(entry, 'refundId', 'providerId', 'reason', 'approver'),
    postings: entry.postings.map((posting) => fieldsOf(posting, 'debit', 'credit', 'asset', 'amount')),
  };
}

/** One movement of one balance, and the item that records it. */
function movementData({ type, atMs, key, ...movement }: Movement) {
  return {
    at: isoInstant(atMs),
    asset: assetOfBalanceType(type),
    ...fieldsOf(movement, 'amount', 'kind'),
    item: key,
  };
}

function balanceData(balance: Balance) {
  return fieldsOf(balance, 'asset', 'amount');
}
