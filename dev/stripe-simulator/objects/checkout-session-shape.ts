import type Stripe from 'stripe';
import type { SessionCreation } from './checkout-session-parameters.ts';
import type { Simulation } from '../simulation.ts';
import type { WireLineItem } from '../state.ts';

/** The longest a session may stay open, and what it does unless told. */
export const MAX_OPEN_S = 24 * 60 * 60;

/** Methods that take one currency alone. */
const ONLY_CURRENCY: ReadonlyMap<string, string> = new Map([
  ['konbini', 'jpy'],
  ['paypay', 'jpy'],
  ['sepa_debit', 'eur'],
  ['us_bank_account', 'usd'],
]);

/** The currency of the first line; the others must agree. */
export function currencyOf(input: SessionCreation): string {
  return input.line_items[0]?.price_data.currency ?? 'jpy';
}

/** The allowed methods narrowed to those the currency can be paid with: the list is a filter, not a demand. */
export function eligibleMethods(input: SessionCreation): string[] {
  const currency = currencyOf(input);
  return input.allowed_payment_method_types.filter(
    (method) => (ONLY_CURRENCY.get(method) ?? currency) === currency,
  );
}

/** What the lines add up to, in minor units. */
export function totalMinor(input: SessionCreation): number {
  return input.line_items.reduce((sum, item) => sum + item.price_data.unit_amount * item.quantity, 0);
}

/** One line of a session, with the price made for it. */
export function buildLineItem(
  simulation: Simulation,
  item: SessionCreation['line_items'][number],
): WireLineItem {
  const { currency, product_data: product, unit_amount: unitAmount } = item.price_data;
  const total = unitAmount * item.quantity;
  return {
    id: simulation.newId('li'),
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: total,
    amount_tax: 0,
    amount_total: total,
    currency,
    description: product.name,
    metadata: {},
    price: {
      id: simulation.newId('price'),
      object: 'price',
      active: false,
      billing_scheme: 'per_unit',
      created: simulation.nowS(),
      currency,
      custom_unit_amount: null,
      livemode: simulation.settings.livemode,
      lookup_key: null,
      metadata: {},
      nickname: null,
      product: simulation.newId('prod'),
      recurring: null,
      tax_behavior: item.price_data.tax_behavior ?? 'unspecified',
      tiers_mode: null,
      transform_quantity: null,
      type: 'one_time',
      unit_amount: unitAmount,
      unit_amount_decimal: String(unitAmount),
    },
    quantity: item.quantity,
  };
}

/** A new session: open, unpaid, without a payment intent. */
export function buildSession(
  simulation: Simulation,
  id: string,
  input: SessionCreation,
): Stripe.Checkout.Session {
  const amount = totalMinor(input);
  const nowS = simulation.nowS();
  const konbini = input.payment_method_options?.konbini;
  return {
    ...structuredClone(UNUSED_FEATURES),
    id,
    object: 'checkout.session',
    allowed_payment_method_types: [...input.allowed_payment_method_types],
    amount_subtotal: amount,
    amount_total: amount,
    cancel_url: input.cancel_url ?? null,
    client_reference_id: input.client_reference_id ?? null,
    created: nowS,
    currency: currencyOf(input),
    customer_details: null,
    customer_email: input.customer_email ?? null,
    expires_at: input.expires_at ?? nowS + MAX_OPEN_S,
    livemode: simulation.settings.livemode,
    locale: input.locale ?? null,
    metadata: input.metadata,
    mode: 'payment',
    payment_intent: null,
    payment_method_options:
      konbini === undefined ? {} : { konbini: { expires_after_days: konbini.expires_after_days ?? null } },
    payment_method_types: eligibleMethods(input),
    payment_status: 'unpaid',
    status: 'open',
    submit_type: input.submit_type ?? null,
    success_url: input.success_url,
    url: `${simulation.settings.baseUrl}/pay/${id}`,
  };
}

/** What a session has in Stripe's shape and the simulator never fills: other modes, other features. */
const UNUSED_FEATURES = {
  adaptive_pricing: { enabled: false },
  after_expiration: null,
  allow_promotion_codes: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: {
    after_submit: null,
    shipping_address: null,
    submit: null,
    terms_of_service_acceptance: null,
  },
  customer: null,
  customer_account: null,
  customer_creation: 'if_required',
  discounts: [],
  integration_identifier: null,
  invoice: null,
  invoice_creation: null,
  managed_payments: null,
  origin_context: null,
  payment_link: null,
  payment_method_collection: 'if_required',
  payment_method_configuration_details: null,
  permissions: null,
  phone_number_collection: { enabled: false },
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  subscription: null,
  total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  ui_mode: 'hosted_page',
  wallet_options: null,
} satisfies Partial<Stripe.Checkout.Session>;
