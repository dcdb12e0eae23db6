import type { ProviderPayment, ProviderSession } from '../../../provider/port.ts';
import type { Attempt, Order, PaymentPage } from '../../model/orders/order.ts';
import { isPaid } from '../../model/orders/order-states.ts';
import {
  type AttemptOutcome,
  applyAttemptOutcome,
  recordAttemptDetails,
} from '../../model/provider/attempt-outcomes.ts';
import { isCurrent, ownerOfPayment } from '../../model/provider/attempt-ownership.ts';
import { receivePayment } from '../../model/provider/payments.ts';
import { amountObjection, ignored, mismatch, stale } from '../../model/provider/update-decision.ts';
import { wasGivenBack } from './was-given-back.ts';
import { namesPayment } from '../../model/provider/provider-recordings.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { disowned } from './apply-session.ts';
import { withRecordedAttempt } from './mend-update.ts';
import {
  type DecideResult,
  type LoadedOrder,
  decisionContext,
  processProviderUpdate,
} from './process-provider-update.ts';
import {
  type RetryLater,
  type UpdateResult,
  type UpdateSource,
  providerUpdate,
  retryLater,
  withoutObject,
} from './provider-update.ts';

/** What became of a payment. ACTION: the customer has something to do, which counts where it is paying a voucher. */
export type PaymentOutcome = 'SUCCEEDED' | 'PROCESSING' | 'ACTION' | 'DECLINED' | 'CANCELED';

/** What an event says of its payment, by its type; other types mean nothing to us. */
export const PAYMENT_EVENTS: Readonly<Record<string, PaymentOutcome>> = {
  'payment_intent.succeeded': 'SUCCEEDED',
  'payment_intent.processing': 'PROCESSING',
  'payment_intent.requires_action': 'ACTION',
  'payment_intent.payment_failed': 'DECLINED',
  'payment_intent.canceled': 'CANCELED',
};

/** What a payment that we asked for says; undefined where it waits for the customer's first try or the next. */
export function paymentOutcome({ status }: ProviderPayment): PaymentOutcome | undefined {
  switch (status) {
    case 'succeeded':
      return 'SUCCEEDED';
    case 'processing':
      return 'PROCESSING';
    case 'requires_action':
      return 'ACTION';
    case 'canceled':
      return 'CANCELED';
    case 'requires_payment_method':
    case 'other':
      return undefined;
  }
}

/** Applies what became of a payment to its order: once, in whatever order updates come (docs/DESIGN.md §8). */
export function applyPayment(
  ledger: Ledger,
  payment: ProviderPayment,
  outcome: PaymentOutcome,
  source: UpdateSource,
): Promise<UpdateResult> {
  return processProviderUpdate(ledger, providerUpdate(source, { kind: 'payment', payment }), {
    decide: (loaded) => decide(ledger, payment, outcome, loaded),
  });
}

async function decide(
  ledger: Ledger,
  payment: ProviderPayment,
  outcome: PaymentOutcome,
  { order: loaded, recorded, books }: LoadedOrder,
): Promise<DecideResult> {
  const isNamed = books === undefined || namesPayment(loaded, payment.paymentId);
  if (recorded !== undefined && isNamed) return stale('booked already');
  const order = withRecordedAttempt(loaded, recorded);
  const isMoney = outcome === 'SUCCEEDED';
  if (!isMoney && isPaid(order.state)) return stale('the order is paid');
  const owner = ownerOfPayment(order, payment.paymentId, payment.metadata.attempt);
  if (owner.kind === 'NOT_YET') return { kind: 'NOT_YET', detail: 'its attempt has no session' };
  if (owner.kind === 'GIVEN_UP' || owner.kind === 'NOT_OWN') return disowned(owner, isMoney);
  const { attempt } = owner;
  if (!isMoney && !isCurrent(order, attempt)) return stale('of an earlier attempt');
  if (outcome === 'ACTION' && payment.voucher === undefined) return ignored('no voucher to pay');

  const standing = await standingOutcome(ledger, order, attempt, payment, outcome);
  if (standing === 'UNKNOWN') return retryLater('PROVIDER');
  if (standing === 'OVER') return stale('declined since');
  let session: ProviderSession | undefined;
  if (owner.kind === 'ASK' || outcome === 'CANCELED' || standing === 'FAILED') {
    if (attempt.sessionId === undefined) return mismatch("not the order's own");
    const found = await ledger.provider.retrieveSession(attempt.sessionId);
    if (found.kind !== 'DONE') return withoutObject(found, mismatch('its session is not there'));
    session = found.value;
    if (owner.kind === 'ASK' && session.paymentId !== payment.paymentId)
      return mismatch("not the order's own");
  }
  const objection = amountObjection(order, {
    amountMinor: isMoney ? payment.amountReceivedMinor : payment.amountMinor,
    currency: payment.currency,
  });
  if (objection !== undefined) return objection;
  if (isMoney) {
    const isGivenBack =
      books === undefined ? false : await wasGivenBack(ledger, order, payment.paymentId, recorded);
    if (isGivenBack === 'UNKNOWN') return retryLater('PROVIDER');
    const arrival = { attempt, paymentId: payment.paymentId, isGivenBack };
    return receivePayment(order, arrival, decisionContext(ledger));
  }
  const hasFailed = standing === 'FAILED';
  return decideUnpaid(ledger, { order, attempt, payment }, outcome, { session: session?.status, hasFailed });
}

/**
 * While its session is open, "processing" and "failed" may follow each other more than once, and events can't tell which
 * is the later: the provider is asked. OVER: it was processing, and isn't any more. FAILED: it was processing, and the
 * customer may pay again, if its session says so too. undefined: as the update says.
 */
async function standingOutcome(
  { provider }: Ledger,
  { state }: Order,
  attempt: Attempt,
  { paymentId }: ProviderPayment,
  outcome: PaymentOutcome,
): Promise<'OVER' | 'FAILED' | 'UNKNOWN' | undefined> {
  const mayHaveChanged = outcome === 'PROCESSING' || (outcome === 'DECLINED' && state === 'PENDING_PAYMENT');
  if (attempt.state !== 'OPEN' || !mayHaveChanged) return undefined;
  const found = await provider.retrievePayment(paymentId);
  if (found.kind !== 'DONE') return found.kind === 'REFUSED' ? undefined : 'UNKNOWN';
  const { status } = found.value;
  if (status !== 'requires_payment_method' && status !== 'canceled') return undefined;
  return outcome === 'PROCESSING' ? 'OVER' : 'FAILED';
}

async function decideUnpaid(
  ledger: Ledger,
  { order, attempt, payment }: { order: Order; attempt: Attempt; payment: ProviderPayment },
  outcome: Exclude<PaymentOutcome, 'SUCCEEDED'>,
  { session, hasFailed }: { session: ProviderSession['status'] | undefined; hasFailed: boolean },
): Promise<DecideResult> {
  const details = { paymentId: payment.paymentId, closed: session === 'complete' || session === 'expired' };
  const context = decisionContext(ledger);
  const apply = (of: AttemptOutcome): DecideResult =>
    applyAttemptOutcome(order, attempt, of, details, context);
  switch (outcome) {
    case 'PROCESSING':
      return apply({ kind: 'WAITING' });
    case 'DECLINED':
      return apply(declinedOutcome(payment, hasFailed ? session : undefined));
    case 'CANCELED':
      // While its session can be paid the attempt isn't over.
      if (!details.closed && order.state !== 'PENDING_PAYMENT') return stale('its session is open');
      if (!details.closed) return apply({ kind: 'DECLINED', declineCode: 'canceled', reopens: true });
      return apply(session === 'expired' ? { kind: 'EXPIRED' } : { kind: 'FAILED', reason: 'canceled' });
    case 'ACTION': {
      const current = await currentVoucher(ledger, order, payment);
      if (current.kind === 'RETRY_LATER') return current;
      if (current.voucher === undefined)
        return recordAttemptDetails(order, attempt, details, context) ?? stale('no voucher any more');
      return apply({ kind: 'WAITING', voucher: current.voucher });
    }
  }
}

/** @param session how the attempt's session stands, where it was asked for because the payment was processing */
function declinedOutcome(
  { declineCode }: ProviderPayment,
  session: ProviderSession['status'] | undefined,
): AttemptOutcome {
  if (session === 'expired') return { kind: 'EXPIRED' };
  if (session === 'complete') return { kind: 'FAILED', reason: declineCode };
  return { kind: 'DECLINED', declineCode, reopens: session === 'open' };
}

type CurrentVoucher = { readonly kind: 'VOUCHER'; readonly voucher: PaymentPage | undefined } | RetryLater;

/** Where the order has another voucher already, events can't tell which is the later: the provider is asked. */
async function currentVoucher(
  ledger: Ledger,
  order: Order,
  reported: ProviderPayment,
): Promise<CurrentVoucher> {
  if (order.voucher === undefined || order.voucher.url === reported.voucher?.url)
    return { kind: 'VOUCHER', voucher: voucherOf(reported, ledger.clock.nowMs()) };
  const found = await ledger.provider.retrievePayment(reported.paymentId);
  if (found.kind !== 'DONE') return retryLater('PROVIDER');
  return { kind: 'VOUCHER', voucher: voucherOf(found.value, ledger.clock.nowMs()) };
}

/** Instructions without a deadline, as a bank transfer's, are shown for so long. */
const NO_DEADLINE_MS = 30 * 86_400_000;

function voucherOf({ voucher }: ProviderPayment, nowMs: number): PaymentPage | undefined {
  if (voucher === undefined) return undefined;
  return {
    url: voucher.url,
    expiresAtMs: voucher.expiresAtS === undefined ? nowMs + NO_DEADLINE_MS : voucher.expiresAtS * 1000,
  };
}
