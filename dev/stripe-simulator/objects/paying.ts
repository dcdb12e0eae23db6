import type Stripe from 'stripe';
import type { PayingMethod } from './charges.ts';
import { createCharge, CUSTOMER, settleCharge } from './charges.ts';
import { requireSession } from './checkout-sessions.ts';
import { invalidRequest } from '../api/errors.ts';
import { createPaymentIntent, ensurePaymentIntent, requirePaymentIntent } from './payment-intents.ts';
import type { Simulation } from '../simulation.ts';

const DAY_S = 24 * 60 * 60;
const KONBINI_EXPIRES_AFTER_DAYS = 3;
const KONBINI_MIN_JPY = 120;
const KONBINI_MAX_JPY = 300_000;

export interface Payment {
  readonly session: Stripe.Checkout.Session;
  readonly paymentIntent: Stripe.PaymentIntent | null;
}

/**
 * The customer pays an open session with a card that works. A session over nothing completes without a payment.
 * @param evenIfExpired lets a payment through that was under way when the session expired
 */
export function payByCard(simulation: Simulation, sessionId: string, evenIfExpired = false): Payment {
  const session = requirePayable(simulation, sessionId, evenIfExpired);
  if (session.amount_total === 0) {
    complete(simulation, session, 'no_payment_required');
    return { session, paymentIntent: null };
  }
  const intent = ensurePaymentIntent(simulation, session);
  intent.payment_method = simulation.newId('pm');
  createCharge(simulation, intent, 'card', { status: 'succeeded' });
  succeed(simulation, intent);
  complete(simulation, session, 'paid');
  return { session, paymentIntent: intent };
}

/** The customer tries a card that is declined. The session stays open for another try. */
export function declineCard(simulation: Simulation, sessionId: string, declineCode: string): Payment {
  const session = requirePayable(simulation, sessionId);
  const intent = ensurePaymentIntent(simulation, session);
  const message = 'Your card was declined.';
  const charge = createCharge(simulation, intent, 'card', {
    status: 'failed',
    failureCode: 'card_declined',
    failureMessage: message,
  });
  fail(simulation, intent, {
    type: 'card_error',
    code: 'card_declined',
    decline_code: declineCode,
    charge: charge.id,
    message,
  });
  return { session, paymentIntent: intent };
}

/** The customer's card asks for 3-D Secure. The session stays open; paying by card again completes it. */
export function requireAuthentication(simulation: Simulation, sessionId: string): Payment {
  const session = requirePayable(simulation, sessionId);
  const intent = ensurePaymentIntent(simulation, session);
  intent.status = 'requires_action';
  intent.next_action = {
    type: 'redirect_to_url',
    redirect_to_url: {
      return_url: session.success_url,
      url: `${simulation.settings.baseUrl}/pay/${session.id}`,
    },
  };
  simulation.emit({ type: 'payment_intent.requires_action', object: intent });
  return { session, paymentIntent: intent };
}

/** The customer's payment is under way while the session stays open: it then succeeds, or is declined. */
export function startCardProcessing(simulation: Simulation, sessionId: string): Payment {
  const session = requirePayable(simulation, sessionId);
  const intent = ensurePaymentIntent(simulation, session);
  intent.status = 'processing';
  intent.next_action = null;
  simulation.emit({ type: 'payment_intent.processing', object: intent });
  return { session, paymentIntent: intent };
}

/** The customer chooses to pay at a convenience store: the session completes unpaid and a slip waits. */
export function startKonbini(simulation: Simulation, sessionId: string): Payment {
  const session = requirePayable(simulation, sessionId);
  if (!session.payment_method_types.includes('konbini')) {
    throw invalidRequest('This Checkout Session does not accept konbini.', { param: 'payment_method_types' });
  }
  const amount = session.amount_total ?? 0;
  if (amount < KONBINI_MIN_JPY || amount > KONBINI_MAX_JPY) {
    throw invalidRequest('A konbini payment must be between 120 and 300,000 yen.');
  }
  const intent = ensurePaymentIntent(simulation, session);
  const days = session.payment_method_options?.konbini?.expires_after_days ?? KONBINI_EXPIRES_AFTER_DAYS;
  intent.status = 'requires_action';
  intent.payment_method = simulation.newId('pm');
  intent.next_action = {
    type: 'konbini_display_details',
    konbini_display_details: {
      expires_at: simulation.nowS() + days * DAY_S,
      hosted_voucher_url: `${simulation.settings.baseUrl}/konbini/${intent.id}`,
      stores: {
        familymart: { confirmation_number: '12345678901', payment_code: '123456' },
        lawson: { confirmation_number: '12345678901', payment_code: '123456' },
        ministop: { confirmation_number: '12345678901', payment_code: '123456' },
        seicomart: { confirmation_number: '12345678901', payment_code: '123456' },
      },
    },
  };
  simulation.emit({ type: 'payment_intent.requires_action', object: intent });
  complete(simulation, session, 'unpaid');
  return { session, paymentIntent: intent };
}

/** The customer pays with a delayed method that has no slip, a bank debit: the money is on its way for days. */
export function startBankDebit(simulation: Simulation, sessionId: string): Payment {
  const session = requirePayable(simulation, sessionId);
  const intent = ensurePaymentIntent(simulation, session);
  intent.status = 'processing';
  intent.payment_method = simulation.newId('pm');
  createCharge(simulation, intent, 'bank_debit', { status: 'pending' });
  simulation.emit({ type: 'payment_intent.processing', object: intent });
  complete(simulation, session, 'unpaid');
  return { session, paymentIntent: intent };
}

/** The money of a waiting payment arrives. */
export function completeAsyncPayment(simulation: Simulation, sessionId: string): Payment {
  const { session, intent } = requireWaiting(simulation, sessionId);
  const pending = pendingCharge(simulation, intent);
  if (pending === undefined) createCharge(simulation, intent, waitingMethod(intent), { status: 'succeeded' });
  else settleCharge(simulation, pending, 'succeeded');
  succeed(simulation, intent);
  session.payment_status = 'paid';
  simulation.emit({ type: 'checkout.session.async_payment_succeeded', object: session });
  return { session, paymentIntent: intent };
}

/** A waiting payment fails: a slip lapses, a debit is returned. The session stays complete and unpaid. */
export function failAsyncPayment(simulation: Simulation, sessionId: string): Payment {
  const { session, intent } = requireWaiting(simulation, sessionId);
  const pending = pendingCharge(simulation, intent);
  if (pending !== undefined) settleCharge(simulation, pending, 'failed');
  fail(simulation, intent, {
    type: 'invalid_request_error',
    code: 'payment_intent_payment_attempt_expired',
    message: 'The payment attempt for this PaymentIntent has failed or expired.',
  });
  simulation.emit({ type: 'checkout.session.async_payment_failed', object: session });
  return { session, paymentIntent: intent };
}

/** Fails every konbini payment whose slip has lapsed. */
export function lapseDueVouchers(simulation: Simulation): void {
  for (const session of simulation.state.sessions.values()) {
    if (typeof session.payment_intent !== 'string') continue;
    const intent = simulation.state.paymentIntents.get(session.payment_intent);
    const voucher = intent?.next_action?.konbini_display_details;
    if (voucher !== undefined && voucher.expires_at <= simulation.nowS())
      failAsyncPayment(simulation, session.id);
  }
}

/**
 * A second payment with the same metadata, amount and currency as a session's, that no session is linked to:
 * what a retry outside Checkout would leave behind.
 */
export function payAgain(simulation: Simulation, sessionId: string): Payment {
  const session = requireSession(simulation, sessionId);
  const intent = createPaymentIntent(simulation, session);
  intent.payment_method = simulation.newId('pm');
  createCharge(simulation, intent, 'card', { status: 'succeeded' });
  succeed(simulation, intent);
  return { session, paymentIntent: intent };
}

function requirePayable(simulation: Simulation, id: string, evenIfExpired = false): Stripe.Checkout.Session {
  const session = requireSession(simulation, id);
  if (session.status === 'open' || (evenIfExpired && session.status === 'expired')) return session;
  throw invalidRequest(`This Checkout Session can't be paid: it is ${String(session.status)}.`);
}

function requireWaiting(simulation: Simulation, id: string) {
  const session = requireSession(simulation, id);
  if (session.status === 'complete' && typeof session.payment_intent === 'string') {
    const intent = requirePaymentIntent(simulation, session.payment_intent);
    if (intent.status === 'requires_action' || intent.status === 'processing') return { session, intent };
  }
  throw invalidRequest('This Checkout Session has no waiting payment.');
}

function waitingMethod(intent: Stripe.PaymentIntent): PayingMethod {
  return intent.next_action?.konbini_display_details === undefined ? 'bank_debit' : 'konbini';
}

function pendingCharge(simulation: Simulation, intent: Stripe.PaymentIntent): Stripe.Charge | undefined {
  if (typeof intent.latest_charge !== 'string') return undefined;
  const charge = simulation.state.charges.get(intent.latest_charge);
  return charge?.status === 'pending' ? charge : undefined;
}

function succeed(simulation: Simulation, intent: Stripe.PaymentIntent): void {
  intent.status = 'succeeded';
  intent.amount_received = intent.amount;
  intent.next_action = null;
  intent.last_payment_error = null;
  intent.canceled_at = null;
  intent.cancellation_reason = null;
  simulation.emit({ type: 'payment_intent.succeeded', object: intent });
}

function fail(
  simulation: Simulation,
  intent: Stripe.PaymentIntent,
  error: Stripe.PaymentIntent.LastPaymentError,
): void {
  intent.status = 'requires_payment_method';
  intent.next_action = null;
  intent.payment_method = null;
  intent.last_payment_error = error;
  simulation.emit({ type: 'payment_intent.payment_failed', object: intent });
}

function complete(
  simulation: Simulation,
  session: Stripe.Checkout.Session,
  paymentStatus: 'paid' | 'unpaid' | 'no_payment_required',
): void {
  session.status = 'complete';
  session.payment_status = paymentStatus;
  session.url = null;
  session.customer_details = {
    ...CUSTOMER,
    address: null,
    business_name: null,
    individual_name: null,
    tax_exempt: 'none',
    tax_ids: [],
  };
  simulation.emit({ type: 'checkout.session.completed', object: session });
}
