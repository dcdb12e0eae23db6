import type { ProviderPayment, ProviderSession } from '../../stripe/port.ts';
import { type Ownership, ownerOfSession } from '../provider/provider-attempts.ts';
import { amountObjection, mismatch, stale } from '../provider/provider-facts.ts';
import { receivePayment } from '../provider/provider-payments.ts';
import { type AttemptFate, learn, suffer } from '../provider/provider-waiting.ts';
import type { Ledger } from './ledger.ts';
import { occasionOf } from './occasion.ts';
import { type Judgement, type Known, settleFact } from './settle-fact.ts';
import type { Settled, Source } from './told-fact.ts';

/** What is told of a checkout session. WAITING: complete, and the money is still to come. */
export type SessionNews = 'PAID' | 'WAITING' | 'FAILED' | 'EXPIRED';

/**
 * What a session that we asked for says; undefined while it is open or says nothing that we know. A complete session
 * doesn't tell a payment that waits from one that failed: its payment does.
 */
export function sessionNews(session: ProviderSession, payment?: ProviderPayment): SessionNews | undefined {
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
  news: SessionNews,
  source: Source,
): Promise<Settled> {
  const { sessionId, metadata, livemode } = session;
  const paymentId = session.paymentId ?? sessionId;
  return settleFact(
    ledger,
    source,
    { paymentId, metadata, objectId: sessionId, livemode },
    { known: (known) => judge(ledger, session, news, known) },
  );
}

function judge(
  ledger: Ledger,
  session: ProviderSession,
  news: SessionNews,
  { order, booking }: Known,
): Judgement {
  const owner = ownerOfSession(order, session.sessionId, session.metadata.attempt);
  if (owner.kind === 'NOT_YET') return { kind: 'NOT_YET', detail: 'its attempt has no session' };
  if (owner.kind !== 'OWN') return disowned(owner, news === 'PAID');
  const { attempt } = owner;
  const { paymentId } = session;
  if (paymentId !== undefined && attempt.paymentId !== undefined && attempt.paymentId !== paymentId)
    return mismatch('another payment than its attempt has');
  const objection = amountObjection(order, session);
  if (objection !== undefined) return objection;
  const occasion = occasionOf(ledger);
  const learnt = { paymentId, closed: true };
  if (news !== 'PAID') return suffer(order, attempt, fateOf(news), learnt, occasion);
  if (booking !== undefined) return learn(order, attempt, learnt, occasion) ?? stale('booked already');
  return receivePayment(order, { attempt, paymentId: paymentId ?? session.sessionId }, occasion);
}

/** Money that isn't the order's own is for operators to look at; nothing else can come of a session given up. */
export function disowned({ kind }: Ownership, isMoney: boolean): Judgement {
  return kind === 'GIVEN_UP' && !isMoney ? stale('of an attempt given up') : mismatch("not the order's own");
}

function fateOf(news: Exclude<SessionNews, 'PAID'>): AttemptFate {
  switch (news) {
    case 'WAITING':
      return { kind: 'WAITING' };
    case 'FAILED':
      return { kind: 'FAILED' };
    case 'EXPIRED':
      return { kind: 'EXPIRED' };
  }
}
