import type { ProviderPayment } from '../../../provider/port.ts';
import { SESSION_GONE_AFTER_MS } from '../../model/orders/due.ts';
import type { Attempt, Order } from '../../model/orders/order.ts';
import { applyAttemptOutcome } from '../../model/provider/attempt-outcomes.ts';
import { SESSION_LIFE_MS } from '../../model/provider/attempts.ts';
import { providerOrderId } from '../../model/provider/session-metadata.ts';
import { applyPayment } from '../provider-updates/apply-payment.ts';
import { decisionContext } from '../provider-updates/process-provider-update.ts';
import { changeOrder } from '../runtime/change-order.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { paymentPages, refundPages } from '../runtime/provider-pages.ts';
import type { ProviderAnswer } from './provider-answer.ts';

/** Clocks differ: payments are looked for from so long before the attempt was claimed. */
const CLOCK_MARGIN_MS = 3_600_000;

/**
 * Ends an attempt of which the provider knows no session, so that its order can be paid anew (docs/DESIGN.md §8). Not
 * before its time is long over: nobody can pay it by then. And not while a payment of it stands at the provider: the
 * order may name a wrong session, and the customer would pay twice. The payment that the attempt knows as its own pays
 * the order; any other is for a person, who gives it back or cancels it.
 */
export async function endMissingSession(
  ledger: Ledger,
  order: Order,
  attempt: Attempt,
): Promise<ProviderAnswer> {
  if (ledger.clock.nowMs() < attempt.expiresAtMs + SESSION_GONE_AFTER_MS) return 'MISSING';
  for await (const page of paymentPages(ledger.provider, sinceS(attempt))) {
    if (page.kind !== 'DONE') return 'UNKNOWN';
    for (const payment of page.value.items.filter((one) => isOf(order, attempt, one))) {
      const stands = await standing(ledger, payment);
      if (stands === 'UNKNOWN') return 'UNKNOWN';
      if (stands === 'OVER') continue;
      if (payment.status !== 'succeeded' || payment.paymentId !== attempt.paymentId) return 'MISSING';
      const applied = await applyPayment(ledger, payment, 'SUCCEEDED', { kind: 'LOOKUP' });
      return applied.kind === 'DONE' ? 'KNOWN' : 'UNKNOWN';
    }
  }
  return endAttempt(ledger, order, attempt);
}

function sinceS({ expiresAtMs }: Attempt): number {
  return Math.floor((expiresAtMs - SESSION_LIFE_MS - CLOCK_MARGIN_MS) / 1000);
}

function isOf(order: Order, attempt: Attempt, { paymentId, metadata }: ProviderPayment): boolean {
  if (paymentId === attempt.paymentId) return true;
  const { tenant, orderId, attempt: number } = metadata;
  return tenant === order.tenant && orderId === providerOrderId(order) && number === attempt.number;
}

/** Whether money of it is here or may still come; OVER once it was given back in full, or can't be paid. */
async function standing(
  { provider }: Ledger,
  { paymentId, status, amountReceivedMinor }: ProviderPayment,
): Promise<'STANDS' | 'OVER' | 'UNKNOWN'> {
  if (status === 'canceled' || status === 'requires_payment_method') return 'OVER';
  if (status !== 'succeeded') return 'STANDS';
  let refundedMinor = 0;
  for await (const page of refundPages(provider, paymentId)) {
    if (page.kind !== 'DONE') return 'UNKNOWN';
    for (const refund of page.value.items)
      if (refund.status === 'succeeded') refundedMinor += refund.amountMinor;
  }
  return refundedMinor >= amountReceivedMinor ? 'OVER' : 'STANDS';
}

/** Judged once more on the order as it is by now: an event may have come first. */
async function endAttempt(
  ledger: Ledger,
  order: Order,
  { number, sessionId }: Attempt,
): Promise<ProviderAnswer> {
  const change = await changeOrder(ledger, order, (current) => {
    const attempt = current.attempts.find((one) => one.number === number);
    if (attempt === undefined || attempt.sessionId !== sessionId) return undefined;
    const outcome = { kind: 'EXPIRED', reason: 'not known to the provider' } as const;
    const decision = applyAttemptOutcome(
      current,
      attempt,
      outcome,
      { closed: true },
      decisionContext(ledger),
    );
    return decision.kind === 'CHANGE' ? decision.after : undefined;
  });
  return change.kind === 'FAILED' ? 'UNKNOWN' : 'KNOWN';
}
