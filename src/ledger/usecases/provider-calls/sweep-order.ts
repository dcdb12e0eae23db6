import { checkedNow, sweepDueAtMs } from '../../model/orders/due.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import { isWaitingForProvider, touch } from '../../model/orders/order-changes.ts';
import {
  type Attempt,
  type Order,
  type Refund,
  awaitsOverpaymentRefund,
  openAttempt,
  overpaymentOf,
} from '../../model/orders/order.ts';
import { applyDispute } from '../provider-updates/apply-dispute.ts';
import { applyRefund, applyRefundsOf } from '../provider-updates/apply-refund.ts';
import { askAboutSession } from './ask-provider.ts';
import type { ProviderAnswer } from './provider-answer.ts';
import { changeOrder } from '../runtime/change-order.ts';
import { completeAllAbandoned } from './complete-abandoned.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readOrderAt } from '../runtime/read-order.ts';
import { readRefunds } from '../runtime/read-refunds.ts';
import type { UpdateResult } from '../provider-updates/provider-update.ts';

/** What the sweeper made of an order. */
export type Swept =
  /** Nothing waits for the provider any more. */
  | 'SETTLED'
  /** The provider was asked, and the order still waits. */
  | 'WAITING'
  /** The provider couldn't be asked about all of it. */
  | 'UNKNOWN'
  /** Its time hasn't come: somebody was faster, or the index is behind. */
  | 'NOT_DUE';

const ASKED = { kind: 'LOOKUP' } as const;

/**
 * Heals an order that waits for the provider's word, or whose claim was abandoned: takes claims over, asks about its
 * session, its pending refunds and open disputes, and applies the answers by the same decisions as events
 * (docs/DESIGN.md §8, "Healing"). Throws TableUnavailableError in an outage of the table.
 */
export async function sweepOrder(ledger: Ledger, ref: OrderRef): Promise<Swept> {
  const found = await readOrderAt(ledger.store, ref);
  const dueMs = found === undefined ? undefined : sweepDueAtMs(found, ledger.settings);
  if (found === undefined || dueMs === undefined) return 'SETTLED';
  if (dueMs > ledger.clock.nowMs()) return 'NOT_DUE';
  const order = await completeAllAbandoned(ledger, found);
  if (!isWaitingForProvider(order)) return 'SETTLED';
  const asked = await askAboutOrder(ledger, order);
  const waits = await noteCheck(ledger, order, asked === 'KNOWN');
  if (asked === 'UNKNOWN') return 'UNKNOWN';
  return waits ? 'WAITING' : 'SETTLED';
}

/** Asks about all that an order waits for; one thing after the other, since they write the same order. */
export async function askAboutOrder(ledger: Ledger, order: Order): Promise<ProviderAnswer> {
  const { provider } = ledger;
  const answers: ProviderAnswer[] = [];
  const attempt = waitingAttempt(order);
  if (attempt !== undefined) answers.push(await askAboutSession(ledger, order, attempt));
  for (const refund of await waitingRefunds(ledger, order)) {
    const { providerRefundId } = refund;
    if (providerRefundId === undefined) continue;
    const found = await provider.retrieveRefund(providerRefundId);
    answers.push(
      found.kind === 'DONE' ? answerOf(await applyRefund(ledger, found.value, ASKED)) : unanswered(found),
    );
  }
  // Listed, since a refund that was asked for by a step may be known to the provider alone.
  for (const { paymentId } of order.overpayments.filter(awaitsOverpaymentRefund)) {
    answers.push(answerOf(await applyRefundsOf(ledger, { paymentId, metadata: {} }, ASKED)));
  }
  for (const { status, disputeId } of order.disputes) {
    if (status !== 'open') continue;
    const found = await provider.retrieveDispute(disputeId);
    answers.push(
      found.kind === 'DONE' ? answerOf(await applyDispute(ledger, found.value, ASKED)) : unanswered(found),
    );
  }
  return answers.includes('UNKNOWN') ? 'UNKNOWN' : 'KNOWN';
}

/** Of the order's own payment; one that somebody holds is theirs to ask for. */
async function waitingRefunds(ledger: Ledger, order: Order): Promise<readonly Refund[]> {
  if (order.pendingRefundCount === 0) return [];
  const claimed = new Set(order.refundClaims.map(({ refundId }) => refundId));
  const refunds = await readRefunds(ledger, order);
  return refunds.filter(
    (refund) =>
      refund.state === 'PENDING' &&
      !claimed.has(refund.refundId) &&
      overpaymentOf(order, refund) === undefined,
  );
}

/** The attempt whose session can still be paid, or whose payment is on its way. */
function waitingAttempt(order: Order): Attempt | undefined {
  const open = openAttempt(order);
  if (open?.state === 'OPEN') return open;
  return order.state === 'PENDING_PAYMENT' ? order.attempts.at(-1) : undefined;
}

function answerOf({ kind }: UpdateResult): ProviderAnswer {
  return kind === 'DONE' ? 'KNOWN' : 'UNKNOWN';
}

/** A provider that refuses to tell won't tell later either; the audit and reconciliation show such an order. */
function unanswered({ kind }: { readonly kind: 'REFUSED' | 'UNAVAILABLE' | 'UNKNOWN' }): ProviderAnswer {
  return kind === 'REFUSED' ? 'KNOWN' : 'UNKNOWN';
}

/** Notes that the provider was asked, so that it isn't asked again at once. Says whether the order still waits. */
async function noteCheck(ledger: Ledger, ref: OrderRef, answered: boolean): Promise<boolean> {
  const fraction = ledger.ids.fraction();
  const change = await changeOrder(ledger, ref, (order, nowMs) =>
    isWaitingForProvider(order)
      ? touch(order, nowMs, { checks: checkedNow(order, ledger.settings, nowMs, { fraction, answered }) })
      : undefined,
  );
  return change.kind !== 'UNCHANGED' && change.kind !== 'GONE';
}
