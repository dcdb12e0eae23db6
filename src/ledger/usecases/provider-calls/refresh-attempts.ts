import { type Attempt, type Order, openAttempt } from '../../model/orders/order.ts';
import { askAboutSession, readAgain } from './ask-provider.ts';
import { completeAllAbandoned } from './complete-abandoned.ts';
import type { Ledger } from '../runtime/ledger.ts';

/**
 * Settles what earlier attempts left of an order before something new is decided on it: claims whose lease is past, a
 * session whose time is over though nobody has told so, and a payment under way on an open session, which may have
 * failed. Gives the order as it stands then.
 */
export async function refreshAttempts(ledger: Ledger, order: Order): Promise<Order> {
  const current = await completeAllAbandoned(ledger, order);
  const unsure = unsureAttempt(current, ledger.clock.nowMs());
  if (unsure === undefined) return current;
  await askAboutSession(ledger, current, unsure);
  return readAgain(ledger, current);
}

function unsureAttempt(order: Order, nowMs: number): Attempt | undefined {
  const attempt = openAttempt(order);
  if (attempt?.state !== 'OPEN') return undefined;
  return attempt.expiresAtMs <= nowMs || order.state === 'PENDING_PAYMENT' ? attempt : undefined;
}
