import type { ProviderPayment, ProviderSession } from '../../../provider/port.ts';
import { providerKey } from '../../model/provider/attempts.ts';
import { isPaid } from '../../model/orders/order-states.ts';
import type { Attempt, Order } from '../../model/orders/order.ts';
import { applyPayment, paymentOutcome } from '../provider-updates/apply-payment.ts';
import { applySession, sessionOutcome } from '../provider-updates/apply-session.ts';
import type { UpdateSource } from '../provider-updates/provider-update.ts';
import type { Ledger } from '../runtime/ledger.ts';
import type { ProviderAnswer } from './provider-answer.ts';
import { endMissingSession } from './end-missing-session.ts';
import { readOrderAt } from '../runtime/read-order.ts';

const ASKED = { kind: 'LOOKUP' } as const;

/**
 * Asks the provider about an attempt's session and applies what it says, by the same decisions as its events
 * (docs/DESIGN.md §8, "Healing"). A session that nobody may pay any more is expired first: its time is over, or the
 * order is paid otherwise.
 */
export async function askAboutSession(
  ledger: Ledger,
  order: Order,
  attempt: Attempt,
): Promise<ProviderAnswer> {
  if (attempt.sessionId === undefined) return 'KNOWN';
  const isOver = attempt.expiresAtMs <= ledger.clock.nowMs() || isPaid(order.state);
  const found = await ledger.provider.retrieveSession(attempt.sessionId);
  if (found.kind === 'REFUSED') return endMissingSession(ledger, order, attempt);
  if (found.kind !== 'DONE') return 'UNKNOWN';
  if (found.value.status !== 'open') return applyFoundSession(ledger, found.value, ASKED);
  if (!isOver) return order.state === 'PENDING_PAYMENT' ? applyDecline(ledger, found.value) : 'KNOWN';
  const key = providerKey(order, 'expire', String(attempt.number), order.rev);
  const expired = await ledger.provider.expireSession(attempt.sessionId, key);
  if (expired.kind !== 'DONE') return 'UNKNOWN';
  return applyFoundSession(ledger, expired.value, ASKED);
}

/** Applies what a session says, and its payment where the session alone doesn't tell. */
export async function applyFoundSession(
  ledger: Ledger,
  session: ProviderSession,
  source: UpdateSource,
): Promise<ProviderAnswer> {
  const payment = await paymentOf(ledger, session);
  if (payment === 'UNKNOWN') return 'UNKNOWN';
  const outcome = sessionOutcome(session, payment);
  if (outcome === undefined) return 'KNOWN';
  const applied = await applySession(ledger, session, outcome, source);
  if (applied.kind === 'RETRY_LATER') return 'UNKNOWN';
  // Only the payment tells of its voucher.
  if (payment === undefined || paymentOutcome(payment) !== 'ACTION') return 'KNOWN';
  return (await applyPayment(ledger, payment, 'ACTION', source)).kind === 'RETRY_LATER' ? 'UNKNOWN' : 'KNOWN';
}

/** A payment that is no longer under way, though its session is open: the customer may pay again. */
async function applyDecline(ledger: Ledger, { paymentId }: ProviderSession): Promise<ProviderAnswer> {
  if (paymentId === undefined) return 'KNOWN';
  const found = await ledger.provider.retrievePayment(paymentId);
  if (found.kind !== 'DONE') return 'UNKNOWN';
  const { status } = found.value;
  if (status !== 'requires_payment_method' && status !== 'canceled') return 'KNOWN';
  const outcome = status === 'canceled' ? 'CANCELED' : 'DECLINED';
  const applied = await applyPayment(ledger, found.value, outcome, ASKED);
  return applied.kind === 'RETRY_LATER' ? 'UNKNOWN' : 'KNOWN';
}

/** A complete session that is unpaid doesn't tell a payment that waits from one that failed. */
async function paymentOf(
  { provider }: Ledger,
  { status, paymentStatus, paymentId }: ProviderSession,
): Promise<ProviderPayment | 'UNKNOWN' | undefined> {
  if (status !== 'complete' || paymentStatus !== 'unpaid' || paymentId === undefined) return undefined;
  const found = await provider.retrievePayment(paymentId);
  return found.kind === 'DONE' ? found.value : 'UNKNOWN';
}

/** The order as it stands now; as it was, if it can't be there no more. */
export async function readAgain(ledger: Ledger, order: Order): Promise<Order> {
  return (await readOrderAt(ledger.store, order)) ?? order;
}
