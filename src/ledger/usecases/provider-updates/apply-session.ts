import type { ProviderPayment, ProviderSession } from '../../../provider/port.ts';
import { applyAttemptOutcome, recordAttemptDetails } from '../../model/provider/attempt-outcomes.ts';
import { type Ownership, ownerOfSession } from '../../model/provider/attempt-ownership.ts';
import { receivePayment } from '../../model/provider/payments.ts';
import { type NoChange, amountObjection, mismatch, stale } from '../../model/provider/update-decision.ts';
import type { Ledger } from '../runtime/ledger.ts';
import {
  type DecideResult,
  type LoadedOrder,
  decisionContext,
  processProviderUpdate,
} from './process-provider-update.ts';
import { type UpdateResult, type UpdateSource, providerUpdate } from './provider-update.ts';

/** What became of a checkout session. WAITING: complete, and the money is still to come. */
export type SessionOutcome = 'PAID' | 'WAITING' | 'FAILED' | 'EXPIRED';

/** What an event says of its session; undefined for a type that means nothing to us. */
export function sessionEventOutcome(
  type: string,
  { paymentStatus }: ProviderSession,
): SessionOutcome | undefined {
  switch (type) {
    case 'checkout.session.completed':
      return paymentStatus === 'unpaid' ? 'WAITING' : 'PAID';
    case 'checkout.session.async_payment_succeeded':
      return 'PAID';
    case 'checkout.session.async_payment_failed':
      return 'FAILED';
    case 'checkout.session.expired':
      return 'EXPIRED';
    default:
      return undefined;
  }
}

/**
 * What a session that we asked for says; undefined while it is open or says nothing that we know. A complete session
 * doesn't tell a payment that waits from one that failed: its payment does.
 */
export function sessionOutcome(
  session: ProviderSession,
  payment?: ProviderPayment,
): SessionOutcome | undefined {
  if (session.status === 'open' || session.status === 'other') return undefined;
  if (session.status === 'expired') return 'EXPIRED';
  if (session.paymentStatus !== 'unpaid') return 'PAID';
  return payment?.status === 'requires_payment_method' || payment?.status === 'canceled'
    ? 'FAILED'
    : 'WAITING';
}

/** Applies what became of a session to its order: once, in whatever order updates come (docs/DESIGN.md §8). */
export function applySession(
  ledger: Ledger,
  session: ProviderSession,
  outcome: SessionOutcome,
  source: UpdateSource,
): Promise<UpdateResult> {
  return processProviderUpdate(ledger, providerUpdate(source, { kind: 'session', session }), {
    decide: (loaded) => decide(ledger, session, outcome, loaded),
  });
}

function decide(
  ledger: Ledger,
  session: ProviderSession,
  outcome: SessionOutcome,
  { order, recorded }: LoadedOrder,
): DecideResult {
  const owner = ownerOfSession(order, session.sessionId, session.metadata.attempt);
  if (owner.kind === 'NOT_YET') return { kind: 'NOT_YET', detail: 'its attempt has no session' };
  if (owner.kind !== 'OWN') return disowned(owner, outcome === 'PAID');
  const { attempt } = owner;
  const { paymentId } = session;
  if (paymentId !== undefined && attempt.paymentId !== undefined && attempt.paymentId !== paymentId)
    return mismatch('another payment than its attempt has');
  const objection = amountObjection(order, session);
  if (objection !== undefined) return objection;
  const context = decisionContext(ledger);
  const details = { paymentId, closed: true };
  if (outcome !== 'PAID') return applyAttemptOutcome(order, attempt, { kind: outcome }, details, context);
  if (recorded !== undefined)
    return recordAttemptDetails(order, attempt, details, context) ?? stale('booked already');
  return receivePayment(order, { attempt, paymentId: paymentId ?? session.sessionId }, context);
}

/** Money that isn't the order's own is for operators to look at; nothing else can come of a session given up. */
export function disowned({ kind }: Ownership, isMoney: boolean): NoChange {
  return kind === 'GIVEN_UP' && !isMoney ? stale('of an attempt given up') : mismatch("not the order's own");
}
