import { stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { readProviderPayment, readProviderSession } from '../../../src/provider/stripe/mapping.ts';
import type { ProviderPayment, ProviderSession } from '../../../src/provider/port.ts';
import type { World } from './support.ts';

/** Sessions and payments as the provider has them, for the tests of their webhooks. */

export const PAID = {
  id: 'cs_1',
  status: 'complete',
  payment_status: 'paid',
  payment_intent: 'pi_1',
  url: null,
};
export const UNPAID = { ...PAID, payment_status: 'unpaid' };
export const HOUR_MS = 3_600_000;

export function sessionOf(object: unknown): ProviderSession {
  const reading = readProviderSession(object);
  if (reading.kind !== 'READ') throw new Error('unreadable session');
  return reading.value;
}

export function paymentOf(object: unknown): ProviderPayment {
  const reading = readProviderPayment(object);
  if (reading.kind !== 'READ') throw new Error('unreadable payment');
  return reading.value;
}

/** The session `cs_1` is there to be asked for, with its payment. */
export function knowsSession(world: World, metadata: Readonly<Record<string, string>>): void {
  world.account.sessions.set('cs_1', sessionOf(stripeSession({ ...PAID, metadata })));
}
