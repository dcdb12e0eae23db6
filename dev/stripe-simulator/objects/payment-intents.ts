import type Stripe from 'stripe';
import { invalidRequest, referenceMissing, resourceMissing } from '../api/errors.ts';
import type { Simulation } from '../simulation.ts';

export function requirePaymentIntent(simulation: Simulation, id: string): Stripe.PaymentIntent {
  const intent = simulation.state.paymentIntents.get(id);
  if (intent === undefined) throw resourceMissing('payment_intent', id, 'intent');
  return intent;
}

/** The payment intent that a request's parameter names, as refunds and disputes do. */
export function referencedPaymentIntent(simulation: Simulation, id: string): Stripe.PaymentIntent {
  const intent = simulation.state.paymentIntents.get(id);
  if (intent === undefined) throw referenceMissing('payment_intent', id, 'payment_intent');
  return intent;
}

/** The payment intent of a session, made (and told of) the first time the customer tries to pay. */
export function ensurePaymentIntent(
  simulation: Simulation,
  session: Stripe.Checkout.Session,
): Stripe.PaymentIntent {
  if (typeof session.payment_intent === 'string') {
    return requirePaymentIntent(simulation, session.payment_intent);
  }
  const intent = createPaymentIntent(simulation, session);
  session.payment_intent = intent.id;
  return intent;
}

/** Makes a payment intent with what a session asked for, without linking the session to it. */
export function createPaymentIntent(
  simulation: Simulation,
  session: Stripe.Checkout.Session,
): Stripe.PaymentIntent {
  const intent = buildPaymentIntent(simulation, session);
  simulation.state.paymentIntents.set(intent.id, intent);
  simulation.emit({ type: 'payment_intent.created', object: intent });
  return intent;
}

/** Cancels a payment that hasn't succeeded, and tells of it. */
export function cancelPaymentIntent(
  simulation: Simulation,
  id: string,
  reason: Stripe.PaymentIntent.CancellationReason,
): Stripe.PaymentIntent {
  const intent = requirePaymentIntent(simulation, id);
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw invalidRequest(
      `You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`,
      { code: 'payment_intent_unexpected_state' },
    );
  }
  intent.status = 'canceled';
  intent.next_action = null;
  intent.canceled_at = simulation.nowS();
  intent.cancellation_reason = reason;
  simulation.emit({ type: 'payment_intent.canceled', object: intent });
  return intent;
}

function buildPaymentIntent(simulation: Simulation, session: Stripe.Checkout.Session): Stripe.PaymentIntent {
  const details = simulation.state.sessionDetails.get(session.id);
  const id = simulation.newId('pi');
  return {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount: session.amount_total ?? 0,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_secret_${simulation.newId('s').slice(2)}`,
    confirmation_method: 'automatic',
    created: simulation.nowS(),
    currency: session.currency ?? 'jpy',
    customer: null,
    customer_account: null,
    description: details?.paymentIntentDescription ?? null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: session.livemode,
    managed_payments: null,
    metadata: { ...details?.paymentIntentMetadata },
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: [...session.payment_method_types],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
  };
}
