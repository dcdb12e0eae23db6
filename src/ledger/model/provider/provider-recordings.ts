import {
  type Entry,
  type EntryOperation,
  type Posting,
  ledgerAccount,
  netChanges,
} from '../entries/entry.ts';
import { type Decimal, ZERO, add, negate, subtract } from '../../kernel/money.ts';
import { isUlid } from '../../kernel/id-grammar.ts';
import { isPaid } from '../orders/order-states.ts';
import { type Order, type Refund, overpaymentOf } from '../orders/order.ts';
import {
  debitWalletOrReceivable,
  paymentPosting,
  providerRefundPosting,
  putBackRefund,
  shortfallOf,
  toppedUpAsset,
} from '../orders/postings.ts';
import { reversed } from '../entries/entry.ts';
import { overpaymentReturn } from './disputes.ts';
import { type DecisionContext, updateEntry } from './update-decision.ts';

/*
 * What an order says that the provider has, and what the entries of each come to. After a loss one may be there without the
 * other: whichever is behind is brought up.
 */

/** Money that moved at the provider, as an order knows it: a payment, an overpayment, a refund, a dispute. */
export interface ProviderRecording {
  readonly operation: EntryOperation;
  /** The id by which its entries name it: of a refund that we were asked for, ours. */
  readonly id: string;
  readonly providerId: string | undefined;
  /** What its entries have to come to: what came in from the provider, less what went out. */
  readonly expected: Decimal;
  readonly ofOverpayment: boolean;
}

/** Everything of the provider's that an order knows of, with the refunds that have items of their own. */
export function providerRecordings(order: Order, refunds: readonly Refund[]): readonly ProviderRecording[] {
  const { payment, overpayments, disputes, amount } = order;
  const isOwn = payment?.method === 'CHECKOUT' && isPaid(order.state);
  const operation = order.kind === 'TOP_UP' ? 'TOP_UP' : 'PAYMENT';
  return [
    ...(isOwn ? [recording(operation, payment.paymentId ?? '', amount)] : []),
    ...overpayments.map((one) => recording('SURPLUS', one.paymentId, one.amount, true)),
    ...refunds
      .filter(({ paymentId }) => paymentId !== undefined)
      .map((refund) => {
        const ofOverpayment = overpaymentOf(order, refund) !== undefined;
        const isOut = ofOverpayment ? refund.state === 'SUCCEEDED' : isTakenOut(order, refund);
        return {
          ...recording('REFUND', refund.refundId, isOut ? negate(refund.amount) : ZERO, ofOverpayment),
          providerId: refund.providerRefundId,
        };
      }),
    ...disputes.map(({ disputeId, recorded, amount: lost, ofOverpayment }) =>
      recording('DISPUTE', disputeId, recorded ? negate(lost) : ZERO, ofOverpayment),
    ),
  ];
}

function recording(
  operation: EntryOperation,
  id: string,
  expected: Decimal,
  ofOverpayment = false,
): ProviderRecording {
  return { operation, id, providerId: id, expected, ofOverpayment };
}

/** A top-up's value is taken out of the wallet as soon as its refund begins. */
function isTakenOut({ kind }: Order, { state }: Refund): boolean {
  return state === 'SUCCEEDED' || (state === 'PENDING' && kind === 'TOP_UP');
}

/** The recording of an object of the provider, by its id or by ours. */
export function recordingOf(
  order: Order,
  refunds: readonly Refund[],
  id: string,
): ProviderRecording | undefined {
  return providerRecordings(order, refunds).find((one) => one.id === id || one.providerId === id);
}

/** Whether the order says that this payment is its own or an overpayment. */
export function namesPayment({ payment, overpayments }: Order, paymentId: string): boolean {
  return payment?.paymentId === paymentId || overpayments.some((one) => one.paymentId === paymentId);
}

/** What the entries of a recording lack to come to what the order says; zero where they do. */
export function missingAmount(order: Order, what: ProviderRecording, entries: readonly Entry[]): Decimal {
  const unit = order.kind === 'TOP_UP' && !what.ofOverpayment ? toppedUpAsset(order) : order.currency;
  const nets = entriesOf(what, entries).flatMap((entry) => netChanges(entry, ledgerAccount.stripe));
  const cameIn = negate(add(...nets.filter(({ asset }) => asset === unit).map(({ net }) => net)));
  return subtract(what.expected, cameIn);
}

function entriesOf(what: ProviderRecording, entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(
    ({ operation, refundId, providerId }) =>
      operation === what.operation &&
      [what.id, what.providerId].some((id) => id !== undefined && (id === refundId || id === providerId)),
  );
}

/**
 * The entry that a recording lacks; undefined where it lacks none.
 * @param balance of the wallet, for a top-up
 */
export function missingEntry(
  order: Order,
  what: ProviderRecording,
  entries: readonly Entry[],
  balance: Decimal,
  context: DecisionContext,
): Entry | undefined {
  const missing = missingAmount(order, what, entries);
  if (missing.isZero()) return undefined;
  const moves = missing.gt(ZERO)
    ? movesIn(order, what, missing, shortfallOf(order, entriesOf(what, entries)))
    : movesOut(order, what, negate(missing), balance);
  const refundId = what.operation === 'REFUND' && !what.ofOverpayment ? what.id : undefined;
  return updateEntry(order, what.operation, moves, context, { providerId: what.providerId, refundId });
}

function movesIn(
  order: Order,
  { operation, id, ofOverpayment }: ProviderRecording,
  amount: Decimal,
  shortfall: Decimal,
): readonly Posting[] {
  if (ofOverpayment) return reversed([overpaymentReturn(order, amount)]);
  if (order.kind === 'PURCHASE') return reversed([providerRefundPosting(order, amount)]);
  if (operation === 'TOP_UP') return [{ ...paymentPosting(order, ledgerAccount.stripe), amount }];
  const source = operation === 'REFUND' && isUlid(id) ? 'REQUESTED' : 'DASHBOARD';
  return putBackRefund(order, { source, amount }, shortfall).postings;
}

function movesOut(
  order: Order,
  { ofOverpayment }: ProviderRecording,
  amount: Decimal,
  balance: Decimal,
): readonly Posting[] {
  if (ofOverpayment) return [overpaymentReturn(order, amount)];
  if (order.kind === 'PURCHASE') return [providerRefundPosting(order, amount)];
  const held = balance.lt(ZERO) ? ZERO : balance;
  const asset = toppedUpAsset(order);
  return debitWalletOrReceivable(order.accountId, asset, amount, held, ledgerAccount.stripe).postings;
}

/** What a top-up owes by its entries; a purchase owes nothing. */
export function receivableByEntries(order: Order, entries: readonly Entry[]): Decimal {
  return order.kind === 'PURCHASE' ? ZERO : shortfallOf(order, entries);
}

/**
 * What entries of the order book, and the order knows nothing of: a refund that was asked for and refused, whose end was
 * lost. It must come to nothing.
 */
export function lostRecordings(
  order: Order,
  refunds: readonly Refund[],
  entries: readonly Entry[],
): readonly ProviderRecording[] {
  const known = new Set<string | undefined>(
    providerRecordings(order, refunds).flatMap(({ id, providerId = id }) => [id, providerId]),
  );
  const overpayment = ledgerAccount.overpayment(order.orderId);
  const lost = new Map<string, ProviderRecording>();
  for (const entry of entries) {
    const { operation, refundId, providerId } = entry;
    const id = refundId ?? providerId;
    if ((operation !== 'REFUND' && operation !== 'DISPUTE') || id === undefined) continue;
    if (known.has(refundId) || known.has(providerId)) continue;
    if (netChanges(entry, ledgerAccount.stripe).length === 0) continue;
    const ofOverpayment = netChanges(entry, overpayment).length > 0;
    lost.set(id, { operation, id, providerId, expected: ZERO, ofOverpayment });
  }
  return [...lost.values()];
}
