import type Stripe from 'stripe';
import { z } from 'zod';
import { isKnownCurrency } from './currencies.ts';
import { expand, integer, list, listing, metadata } from '../api/parameters.ts';

/** Payment methods the simulator knows; Stripe knows more. */
const paymentMethodType = z.enum(['card', 'konbini', 'us_bank_account', 'sepa_debit', 'link', 'paypay']);

const currency = z
  .string()
  .transform((text) => text.toLowerCase())
  .refine(isKnownCurrency, 'the currency is unknown to the simulator');

/** The web's, or an app's own scheme; nothing that a browser would run. */
const url = z.url({ protocol: /^(?!javascript$|data$|vbscript$)[a-z][a-z0-9+.-]*$/ }).max(5000);

const lineItem = z.strictObject({
  price_data: z.strictObject({
    currency,
    product_data: z.strictObject({
      name: z.string().min(1),
      description: z.string().optional(),
      images: list(z.string()).optional(),
      metadata: metadata.optional(),
    } satisfies Names<Stripe.Checkout.SessionCreateParams.LineItem.PriceData.ProductData>),
    tax_behavior: z.enum(['exclusive', 'inclusive', 'unspecified']).optional(),
    unit_amount: integer.pipe(z.number().min(0)),
  } satisfies Names<Stripe.Checkout.SessionCreateParams.LineItem.PriceData>),
  quantity: integer.pipe(z.number().min(1)).default(1),
} satisfies Names<Stripe.Checkout.SessionCreateParams.LineItem>);

/** The SDK's own parameter names, so that a name Stripe doesn't have doesn't compile. */
type Names<Params> = Partial<Record<keyof Params, z.ZodType>>;

export const sessionCreation = z.strictObject({
  allowed_payment_method_types: list(paymentMethodType).default(['card']),
  cancel_url: url.optional(),
  client_reference_id: z.string().min(1).max(200).optional(),
  customer_email: z.email().optional(),
  expand,
  expires_at: integer.optional(),
  line_items: list(lineItem).refine(
    (items) => items.length >= 1 && items.length <= 100,
    'takes 1 to 100 items',
  ),
  locale: z.enum(['auto', 'en', 'ja']).optional(),
  metadata: metadata.default({}),
  mode: z.literal('payment'),
  payment_intent_data: z
    .strictObject({
      capture_method: z.literal('automatic').optional(),
      description: z.string().optional(),
      metadata: metadata.default({}),
      receipt_email: z.email().optional(),
      statement_descriptor: z.string().max(22).optional(),
      statement_descriptor_suffix: z.string().max(22).optional(),
    } satisfies Names<Stripe.Checkout.SessionCreateParams.PaymentIntentData>)
    .optional(),
  payment_method_options: z
    .strictObject({
      konbini: z
        .strictObject({ expires_after_days: integer.pipe(z.number().min(1).max(60)).optional() })
        .optional(),
    } satisfies Names<Stripe.Checkout.SessionCreateParams.PaymentMethodOptions>)
    .optional(),
  submit_type: z.enum(['auto', 'book', 'donate', 'pay']).optional(),
  success_url: url,
  ui_mode: z.literal('hosted_page').optional(),
} satisfies Names<Stripe.Checkout.SessionCreateParams>);

export type SessionCreation = z.output<typeof sessionCreation>;

export const sessionListing = z.strictObject({
  ...listing,
  payment_intent: z.string().optional(),
  status: z.enum(['complete', 'expired', 'open']).optional(),
} satisfies Names<Stripe.Checkout.SessionListParams>);

export const sessionExpiry = z.strictObject({ expand });
