import type Stripe from 'stripe';
import type { Simulation } from '../simulation.ts';

/** How a customer pays. `bank_debit` stands for every delayed method without a slip. */
export type PayingMethod = 'card' | 'konbini' | 'bank_debit';

export interface ChargeOutcome {
  readonly status: 'succeeded' | 'pending' | 'failed';
  readonly failureCode?: string;
  readonly failureMessage?: string;
}

/** What a customer types into the checkout page: made up, and what no log line of the gateway may show. */
export const CUSTOMER = { email: 'taro.yamada@example.com', name: 'Taro Yamada', phone: '+819012345678' };

/** Makes a charge for a payment intent and tells of it. It becomes the intent's latest. */
export function createCharge(
  simulation: Simulation,
  intent: Stripe.PaymentIntent,
  method: PayingMethod,
  outcome: ChargeOutcome,
): Stripe.Charge {
  const charge = buildCharge(simulation, intent, method, outcome);
  simulation.state.charges.set(charge.id, charge);
  intent.latest_charge = charge.id;
  if (outcome.status === 'succeeded') simulation.emit({ type: 'charge.succeeded', object: charge });
  if (outcome.status === 'pending') simulation.emit({ type: 'charge.pending', object: charge });
  if (outcome.status === 'failed') simulation.emit({ type: 'charge.failed', object: charge });
  return charge;
}

/** Settles a pending charge of a delayed method and tells of it. */
export function settleCharge(
  simulation: Simulation,
  charge: Stripe.Charge,
  status: 'succeeded' | 'failed',
): void {
  const before = structuredClone(charge);
  const succeeded = status === 'succeeded';
  charge.status = status;
  charge.paid = succeeded;
  charge.captured = succeeded;
  charge.amount_captured = succeeded ? charge.amount : 0;
  charge.balance_transaction = succeeded ? simulation.newId('txn') : null;
  if (succeeded) {
    simulation.emit({ type: 'charge.succeeded', object: charge, before });
  } else {
    simulation.emit({ type: 'charge.failed', object: charge, before });
  }
}

/** The charge a payment intent was paid with; undefined while there is none or it failed. */
export function paidCharge(simulation: Simulation, intent: Stripe.PaymentIntent): Stripe.Charge | undefined {
  if (typeof intent.latest_charge !== 'string') return undefined;
  const charge = simulation.state.charges.get(intent.latest_charge);
  return charge?.paid === true ? charge : undefined;
}

function buildCharge(
  simulation: Simulation,
  intent: Stripe.PaymentIntent,
  method: PayingMethod,
  outcome: ChargeOutcome,
): Stripe.Charge {
  const succeeded = outcome.status === 'succeeded';
  const id = simulation.newId('ch');
  return {
    id,
    object: 'charge',
    amount: intent.amount,
    amount_captured: succeeded ? intent.amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: succeeded ? simulation.newId('txn') : null,
    billing_details: { ...CUSTOMER, address: null, tax_id: null },
    calculated_statement_descriptor: 'HITOTSU',
    captured: succeeded,
    created: simulation.nowS(),
    currency: intent.currency,
    customer: null,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: outcome.failureCode ?? null,
    failure_message: outcome.failureMessage ?? null,
    fraud_details: {},
    livemode: simulation.settings.livemode,
    metadata: { ...intent.metadata },
    on_behalf_of: null,
    outcome: networkOutcome(outcome),
    paid: succeeded,
    payment_intent: intent.id,
    payment_method: typeof intent.payment_method === 'string' ? intent.payment_method : null,
    payment_method_details: methodDetails(method, intent.amount),
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: outcome.status,
    transfer_data: null,
    transfer_group: null,
  };
}

function networkOutcome(outcome: ChargeOutcome): Stripe.Charge.Outcome {
  const failed = outcome.status === 'failed';
  return {
    advice_code: null,
    network_advice_code: null,
    network_decline_code: null,
    network_status: failed ? 'declined_by_network' : 'approved_by_network',
    reason: outcome.failureCode ?? null,
    seller_message: failed ? 'The bank declined the payment.' : 'Payment complete.',
    type: failed ? 'issuer_declined' : 'authorized',
  };
}

function methodDetails(method: PayingMethod, amount: number): Stripe.Charge.PaymentMethodDetails {
  switch (method) {
    case 'card':
      return { type: 'card', card: cardDetails(amount) };
    case 'konbini':
      return { type: 'konbini', konbini: { store: { chain: 'lawson' } } };
    case 'bank_debit':
      return { type: 'sepa_debit' };
  }
}

function cardDetails(amount: number): Stripe.Charge.PaymentMethodDetails.Card {
  return {
    amount_authorized: amount,
    authorization_code: null,
    brand: 'visa',
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
    country: 'JP',
    electronic_commerce_indicator: null,
    exp_month: 12,
    exp_year: 2034,
    fingerprint: null,
    funding: 'credit',
    installments: null,
    last4: '4242',
    mandate: null,
    network: 'visa',
    network_transaction_id: null,
    regulated_status: 'unregulated',
    three_d_secure: null,
    transaction_link_id: null,
    wallet: null,
  };
}
