import { type Attempt, type Order, openAttempt } from '../../model/orders/order.ts';
import { askAboutSession, readAgain } from './ask-provider.ts';
import { completeAllAbandoned } from './complete-abandoned.ts';
import type { Ledger } from '../runtime/ledger.ts';

/**
 * Settles what earlier attempts left of an order before something new is decided on it: claims whose lease is past, and
 * a session whose time is over though nobody has told so. Gives the order as it stands then.
 */
export async function refreshAttempts(ledger: Ledger, order: Order): Promise<Order> {
  const current = await completeAllAbandoned(ledger, order);
  const lapsed = lapsedAttempt(current, ledger.clock.nowMs());
  if (lapsed === undefined) return current;
  await askAboutSession(ledger, current, lapsed);
  return readAgain(ledger, current);
}

function lapsedAttempt(order: Order, nowMs: number): Attempt | undefined {
  const attempt = openAttempt(order);
  return attempt?.state === 'OPEN' && attempt.expiresAtMs <= nowMs ? attempt : undefined;
}
