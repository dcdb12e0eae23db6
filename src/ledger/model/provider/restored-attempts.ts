import { move, touch } from '../orders/order-changes.ts';
import { allows } from '../orders/order-states.ts';
import { type Attempt, type Order, closedAttempt } from '../orders/order.ts';
import { closedAttempts } from './attempts.ts';
import { PROVIDER_ACTOR } from './update-decision.ts';

/** A session of the provider's, as far as an attempt keeps it. */
export interface RestoredSession {
  readonly sessionId: string;
  readonly createdS: number;
  readonly expiresAtS: number;
  readonly paymentId?: string;
}

/**
 * The order with an attempt that was lost, by its session; undefined where its number has another one. An attempt that is
 * later than all others was opened after they were over, so they are; any other is past, and is kept for its payment alone.
 */
export function withRestoredAttempt(
  order: Order,
  number: number,
  { sessionId, createdS, expiresAtS, paymentId }: RestoredSession,
): Order | undefined {
  const known = order.attempts.find((one) => one.number === number);
  if (known?.sessionId !== undefined) return undefined;
  const attempt: Attempt = {
    ...lostAttempt(number, expiresAtS * 1000),
    sessionId,
    ...(paymentId === undefined ? {} : { paymentId }),
  };
  const atMs = createdS * 1000;
  const others = order.attempts.filter((one) => one !== known);
  const attempts = [...others, attempt].toSorted((one, other) => one.number - other.number);
  const isLatest = attempts.at(-1) === attempt;
  const ended = isLatest ? endedBefore({ ...order, attempts: others }, atMs) : order;
  if (!isLatest || !allows('SESSION_MADE', ended.state)) return touch(order, atMs, { attempts });
  const opened = [...closedAttempts(ended), { ...closedAttempt(attempt), state: 'OPEN' as const }];
  const what = { cause: 'CHECKOUT_OPENED', actor: order.actor, atMs } as const;
  return move({ ...ended, rev: order.rev }, 'SESSION_MADE', 'SESSION_CREATED', what, { attempts: opened });
}

/** An attempt of which nothing is left but its number: over, with nothing to send again. */
export function lostAttempt(number: number, expiresAtMs: number): Attempt {
  return {
    number,
    state: 'CLOSED',
    tries: 0,
    successUrl: '',
    cancelUrl: '',
    paymentMethodTypes: [],
    itemized: false,
    expiresAtMs,
  };
}

/** An attempt was made after the one before it was over. */
function endedBefore(order: Order, atMs: number): Order {
  if (!allows('SESSION_EXPIRED', order.state)) return order;
  const what = { cause: 'SESSION_EXPIRED', actor: PROVIDER_ACTOR, atMs } as const;
  return move(order, 'SESSION_EXPIRED', 'EXPIRED', what, {
    attempts: closedAttempts(order),
    voucher: undefined,
  });
}
