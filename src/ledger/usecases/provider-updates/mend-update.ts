import { ZERO } from '../../kernel/money.ts';
import type { Entry } from '../../model/entries/entry.ts';
import { touch } from '../../model/orders/order-changes.ts';
import { type Order, type Refund, closedAttempt } from '../../model/orders/order.ts';
import { agreeWithRefunds } from '../../model/orders/refunds.ts';
import {
  missingEntry,
  namesPayment,
  receivableByEntries,
  recordingOf,
} from '../../model/provider/provider-recordings.ts';
import { lostAttempt } from '../../model/provider/restored-attempts.ts';
import {
  type DecisionContext,
  type OrderUpdate,
  type RecordedPayment,
  type UpdateDecision,
  mismatch,
} from '../../model/provider/update-decision.ts';
import type { OrderBooks } from './order-books.ts';

/*
 * How the ledger's own copies of one thing agree again. An order, its entry and the payment item are written together, yet
 * damage or a restore may leave them of different moments. The decision is about the order; what of it is there already
 * is not written again, and what is missing is added.
 */

/** The order as decisions take it: the payment item is the proof whose attempt the payment was. */
export function withRecordedAttempt(order: Order, recorded: RecordedPayment | undefined): Order {
  if (recorded?.orderId !== order.orderId || recorded.accountId !== order.accountId) return order;
  if (namesPayment(order, recorded.paymentId)) return order;
  const { attempt: number, paymentId } = recorded;
  const known = order.attempts.find((one) => one.number === number);
  const attempt = known ?? lostAttempt(number, order.createdAtMs);
  const others = order.attempts.filter((one) => one !== known);
  const attempts = [...others, closedAttempt({ ...attempt, paymentId })];
  return { ...order, attempts: attempts.toSorted((one, other) => one.number - other.number) };
}

/**
 * Completes a decision to what the books lack, and takes out of it what they have.
 * @param ids the provider's object that it is about, by the ids under which the order may know it
 */
export function mendedDecision(
  { order, recorded, refunds, entries, wallet }: OrderBooks,
  decision: UpdateDecision,
  ids: readonly string[],
  context: DecisionContext,
): UpdateDecision {
  if (order === undefined) return decision;
  const decided = decision.kind === 'CHANGE' ? decision.after : order;
  const changed = decision.kind === 'CHANGE' ? decision.refund : undefined;
  const others = refunds.filter(({ refundId }) => refundId !== changed?.refundId);
  const all = changed === undefined ? refunds : [...others, changed];
  const what = ids.map((id) => recordingOf(decided, all, id)).find((one) => one !== undefined);
  if (what === undefined) return decision;
  const entry = missingEntry(decided, what, entries, wallet?.posted ?? ZERO, context);
  if (decision.kind === 'NO_CHANGE' && entry === undefined) return decision;
  const update: OrderUpdate =
    decision.kind === 'CHANGE'
      ? decision
      : { kind: 'CHANGE', before: order, after: touch(order, context.atMs, {}) };
  const { recorded: anew, alerts } = update;
  if (anew !== undefined && recorded !== undefined && anew.recordedAs !== recorded.recordedAs)
    return mismatch('its payment item says otherwise');
  const known = entry === undefined ? entries : [...entries, entry];
  const written = known.findLast(({ refundId, providerId }) => [refundId, providerId].includes(what.id));
  const refund = changed ?? refunds.find(({ refundId }) => refundId === what.id);
  const agreed = agreeWithRefunds(update.after, all, context.atMs);
  return {
    kind: 'CHANGE',
    before: order,
    // What an order says of its entries is what they say.
    after: order.kind === 'TOP_UP' ? { ...agreed, receivable: receivableByEntries(order, known) } : agreed,
    entry,
    ...(refund === undefined || (changed === undefined && entry === undefined)
      ? {}
      : { refund: withEntry(refund, update.entry, written) }),
    ...(anew !== undefined && recorded === undefined ? { recorded: anew } : {}),
    ...(alerts === undefined ? {} : { alerts }),
  };
}

/** The entry that took a refund's money out is the one that is there. */
function withEntry(refund: Refund, decided: Entry | undefined, written: Entry | undefined): Refund {
  const isDecided = decided !== undefined && refund.entryId === decided.entryId;
  return written !== undefined && (isDecided || refund.entryId === undefined)
    ? { ...refund, entryId: written.entryId }
    : refund;
}
