import type { ProviderPayment, ProviderSession } from '../../../provider/port.ts';
import { type Ownership, ownerOfSession } from '../../model/provider/attempt-ownership.ts';
import { amountObjection, mismatch, stale } from '../../model/provider/update-decision.ts';
import { receivePayment } from '../../model/provider/payments.ts';
import {
  type AttemptOutcome,
  recordAttemptDetails,
  applyAttemptOutcome,
} from '../../model/provider/attempt-outcomes.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { decisionContext } from './decision-context.ts';
import { type Judgement, type LoadedOrder, processProviderUpdate } from './process-provider-update.ts';
import type { UpdateResult, UpdateSource } from './provider-update.ts';

/** What is told of a checkout session. WAITING: complete, and the money is still to come. */
export type SessionOutcome = 'PAID' | 'WAITING' | 'FAILED' | 'EXPIRED';

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

/** Applies what is told of a session to its order, once, whatever came before (docs/DESIGN.md §8). */
export function applySession(
  ledger: Ledger,
  session: ProviderSession,
  outcome: SessionOutcome,
  source: UpdateSource,
): Promise<UpdateResult> {
  const { sessionId, metadata, livemode } = session;
  const paymentId = session.paymentId ?? sessionId;
  return processProviderUpdate(
    ledger,
    source,
    { paymentId, metadata, objectId: sessionId, livemode },
    { known: (known) => judge(ledger, session, outcome, known) },
  );
}

function judge(
  ledger: Ledger,
  session: ProviderSession,
  outcome: SessionOutcome,
  { order, recorded }: LoadedOrder,
): Judgement {
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
  if (outcome !== 'PAID')
    return applyAttemptOutcome(order, attempt, attemptOutcomeOf(outcome), details, context);
  if (recorded !== undefined)
    return recordAttemptDetails(order, attempt, details, context) ?? stale('booked already');
  return receivePayment(order, { attempt, paymentId: paymentId ?? session.sessionId }, context);
}

/** Money that isn't the order's own is for operators to look at; nothing else can come of a session given up. */
export function disowned({ kind }: Ownership, isMoney: boolean): Judgement {
  return kind === 'GIVEN_UP' && !isMoney ? stale('of an attempt given up') : mismatch("not the order's own");
}

function attemptOutcomeOf(outcome: Exclude<SessionOutcome, 'PAID'>): AttemptOutcome {
  switch (outcome) {
    case 'WAITING':
      return { kind: 'WAITING' };
    case 'FAILED':
      return { kind: 'FAILED' };
    case 'EXPIRED':
      return { kind: 'EXPIRED' };
  }
}
