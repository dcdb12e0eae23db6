import { type Attempt, type Order, closedAttempt } from '../orders/order.ts';

/** Whose a session or a payment is, as far as the order alone tells (docs/DESIGN.md §8, "Whose it is"). */
export type Ownership =
  | { readonly kind: 'OWN'; readonly attempt: Attempt }
  /** The attempt's session decides: it has to be asked which payment is its own. */
  | { readonly kind: 'ASK'; readonly attempt: Attempt; readonly sessionId: string }
  /** Its attempt is still being made: nobody has written down which session it got. */
  | { readonly kind: 'NOT_YET' }
  /** An attempt that was given up without a session: that session was never handed to anybody. */
  | { readonly kind: 'GIVEN_UP' }
  | { readonly kind: 'NOT_OWN' };

/** Failing, expiring and processing events count for this attempt only; those of older ones are past. */
export function isCurrent(order: Order, attempt: Attempt): boolean {
  return order.attempts.at(-1)?.number === attempt.number;
}

/** @param named the attempt that the metadata names; it alone is never trusted */
export function ownerOfSession(order: Order, sessionId: string, named: number | undefined): Ownership {
  const attempt = order.attempts.find((candidate) => candidate.sessionId === sessionId);
  if (attempt !== undefined) return { kind: 'OWN', attempt };
  const claimed = order.attempts.find((candidate) => candidate.number === named);
  return claimed?.sessionId === undefined ? withoutSession(order, claimed, named) : { kind: 'NOT_OWN' };
}

/** A session has one payment: an attempt whose payment is known owns no other. */
export function ownerOfPayment(order: Order, paymentId: string, named: number | undefined): Ownership {
  const known = order.attempts.find((candidate) => candidate.paymentId === paymentId);
  if (known !== undefined) return { kind: 'OWN', attempt: known };
  const attempt = order.attempts.find((candidate) => candidate.number === named);
  if (attempt?.paymentId !== undefined) return { kind: 'NOT_OWN' };
  if (attempt?.sessionId === undefined) return withoutSession(order, attempt, named);
  return { kind: 'ASK', attempt, sessionId: attempt.sessionId };
}

/** Attempts without a session are dropped when the next one is made, so a number that was passed is one of them. */
function withoutSession(order: Order, attempt: Attempt | undefined, named: number | undefined): Ownership {
  if (attempt?.state === 'CLAIMED') return { kind: 'NOT_YET' };
  const passed = named !== undefined && named <= (order.attempts.at(-1)?.number ?? 0);
  return { kind: passed ? 'GIVEN_UP' : 'NOT_OWN' };
}

/** What is learnt of an attempt. */
export interface AttemptDetails {
  readonly paymentId?: string | undefined;
  /** Its session can't be paid any more: it is complete or has expired. */
  readonly closed: boolean;
}

/** The attempts with what is learnt of one of them. */
export function withDetails(
  order: Order,
  attempt: Attempt,
  { paymentId, closed }: AttemptDetails,
): readonly Attempt[] {
  const details: Attempt = { ...attempt, ...(paymentId === undefined ? {} : { paymentId }) };
  const after = closed ? closedAttempt(details) : details;
  return order.attempts.map((other) => (other.number === attempt.number ? after : other));
}

/** Whether that is anything new: if not, nothing needs to be written. */
export function hasNewDetails(attempt: Attempt, { paymentId, closed }: AttemptDetails): boolean {
  return (
    (paymentId !== undefined && attempt.paymentId !== paymentId) || (closed && attempt.state !== 'CLOSED')
  );
}
