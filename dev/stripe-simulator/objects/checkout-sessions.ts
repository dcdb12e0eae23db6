import type Stripe from 'stripe';
import { cancelPaymentIntent, requirePaymentIntent } from './payment-intents.ts';
import type { SessionCreation } from './checkout-session-parameters.ts';
import {
  buildLineItem,
  buildSession,
  currencyOf,
  eligibleMethods,
  MAX_OPEN_S,
  totalMinor,
} from './checkout-session-shape.ts';
import { requireChargeable } from './currencies.ts';
import { invalidRequest, resourceMissing } from '../api/errors.ts';
import type { Simulation } from '../simulation.ts';
import type { SessionDetails } from '../state.ts';

const MIN_OPEN_S = 30 * 60;

/** Refuses what Stripe refuses before it makes a session: mixed currencies, amounts, times, methods. */
export function checkSessionCreation(simulation: Simulation, input: SessionCreation): void {
  const currency = currencyOf(input);
  if (input.line_items.some((item) => item.price_data.currency !== currency)) {
    throw invalidRequest('All line items must have the same currency.', { param: 'line_items' });
  }
  requireChargeable(totalMinor(input), currency, 'line_items');
  const openForS = (input.expires_at ?? simulation.nowS() + MAX_OPEN_S) - simulation.nowS();
  if (openForS < MIN_OPEN_S) {
    throw invalidRequest(
      'The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.',
      { param: 'expires_at' },
    );
  }
  if (openForS > MAX_OPEN_S) {
    throw invalidRequest(
      'The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.',
      {
        param: 'expires_at',
      },
    );
  }
  if (eligibleMethods(input).length === 0) {
    throw invalidRequest(`None of the allowed payment methods can be used with the currency ${currency}.`, {
      param: 'allowed_payment_method_types',
    });
  }
}

/** Makes an open session. The payment intent follows when the customer pays, as in Checkout itself. */
export function createSession(simulation: Simulation, input: SessionCreation): Stripe.Checkout.Session {
  const { state, settings } = simulation;
  const mode = settings.livemode ? 'live' : 'test';
  const id = simulation.newId(`cs_${mode}`);
  const details: SessionDetails = {
    lineItems: input.line_items.map((item) => buildLineItem(simulation, item)),
    paymentIntentMetadata: input.payment_intent_data?.metadata ?? {},
    paymentIntentDescription: input.payment_intent_data?.description ?? null,
  };
  const session = buildSession(simulation, id, input);
  state.sessions.set(id, session);
  state.sessionDetails.set(id, details);
  return session;
}

/** Expires an open session at once, as the API does. Refuses any other state. */
export function expireSession(simulation: Simulation, id: string): Stripe.Checkout.Session {
  const session = requireSession(simulation, id);
  if (session.status !== 'open') {
    throw invalidRequest(
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${String(session.status)}.`,
    );
  }
  session.status = 'expired';
  session.url = null;
  if (typeof session.payment_intent === 'string') {
    const { id: intentId, status } = requirePaymentIntent(simulation, session.payment_intent);
    if (status !== 'canceled') cancelPaymentIntent(simulation, intentId, 'automatic');
  }
  simulation.emit({ type: 'checkout.session.expired', object: session });
  return session;
}

/** Expires every open session whose time has come. */
export function expireDueSessions(simulation: Simulation): void {
  for (const session of simulation.state.sessions.values()) {
    if (session.status === 'open' && session.expires_at <= simulation.nowS()) {
      expireSession(simulation, session.id);
    }
  }
}

export function requireSession(simulation: Simulation, id: string): Stripe.Checkout.Session {
  const session = simulation.state.sessions.get(id);
  if (session === undefined) throw resourceMissing('checkout.session', id);
  return session;
}
