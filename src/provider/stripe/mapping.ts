import { z } from 'zod';
import type { ProviderDispute, ProviderPayment, ProviderRefund, ProviderSession } from '../port.ts';
import {
  amountMinor,
  currencyCode,
  epochS,
  metadata,
  pageUrl,
  providerId,
  read,
  type Reading,
  reference,
  unreadable,
  word,
} from './shapes.ts';

/**
 * Stripe's objects in the port's words. Only what is named here is kept (docs/DESIGN.md §8): no customer, no card,
 * no client secret. Fields that Stripe adds are ignored; statuses that it adds fall to the side that moves no money.
 */

const sessionMode = z.object({ object: z.literal('checkout.session'), mode: z.string() });

const SESSION_STATUS: ReadonlyMap<string, ProviderSession['status']> = new Map([
  ['open', 'open'],
  ['complete', 'complete'],
  ['expired', 'expired'],
]);

const PAYMENT_STATUS: ReadonlyMap<string, ProviderSession['paymentStatus']> = new Map([
  ['paid', 'paid'],
  ['no_payment_required', 'no_payment_required'],
]);

/** What Stripe's types call nullable may be null: an authentic object is read, whoever made it. */
const sessionShape = z.object({
  id: providerId,
  status: z.string().nullish(),
  payment_status: z.string(),
  url: pageUrl.nullish(),
  expires_at: epochS,
  payment_intent: reference.nullish(),
  amount_total: amountMinor.nullish(),
  currency: currencyCode.nullish(),
  livemode: z.boolean(),
  metadata,
});

/** We make sessions in payment mode alone: subscriptions and set-ups are another integration's. */
export function readSession(raw: unknown): Reading<ProviderSession> {
  const mode = sessionMode.safeParse(raw);
  if (!mode.success) return unreadable(mode.error);
  if (mode.data.mode !== 'payment') return { kind: 'FOREIGN' };
  return read(sessionShape, raw, (found) => ({
    sessionId: found.id,
    status: SESSION_STATUS.get(found.status ?? '') ?? 'other',
    paymentStatus: PAYMENT_STATUS.get(found.payment_status) ?? 'unpaid',
    expiresAtS: found.expires_at,
    livemode: found.livemode,
    metadata: found.metadata,
    ...(typeof found.amount_total === 'number' && { amountMinor: found.amount_total }),
    ...(typeof found.currency === 'string' && { currency: found.currency }),
    ...(typeof found.url === 'string' && { url: found.url }),
    ...(typeof found.payment_intent === 'string' && { paymentId: found.payment_intent }),
  }));
}

/** OXXO calls its deadline `expires_after`; instructions for a bank transfer have none. */
const voucherDetails = z
  .object({
    hosted_voucher_url: pageUrl.nullish(),
    hosted_instructions_url: pageUrl.nullish(),
    expires_at: epochS.nullish(),
    expires_after: epochS.nullish(),
  })
  .nullish()
  .transform((found) => {
    const url = found?.hosted_voucher_url ?? found?.hosted_instructions_url;
    const expiresAtS = found?.expires_at ?? found?.expires_after;
    if (typeof url !== 'string') return undefined;
    return { url, ...(typeof expiresAtS === 'number' && { expiresAtS }) };
  });

/** The actions that leave the customer with something to pay; all others, 3-D Secure among them, give no voucher. */
const nextAction = z
  .object({
    konbini_display_details: voucherDetails,
    boleto_display_details: voucherDetails,
    oxxo_display_details: voucherDetails,
    multibanco_display_details: voucherDetails,
    display_bank_transfer_instructions: voucherDetails,
  })
  .nullish()
  .transform((found) => Object.values(found ?? {}).find((voucher) => voucher !== undefined))
  // A voucher that can't be read must not hide that the payment exists.
  .catch(undefined);

const paymentShape = z.object({
  object: z.literal('payment_intent'),
  id: providerId,
  status: z
    .enum(['succeeded', 'processing', 'requires_action', 'requires_payment_method', 'canceled', 'other'])
    .catch('other'),
  amount: amountMinor,
  amount_received: amountMinor,
  currency: currencyCode,
  livemode: z.boolean(),
  created: epochS,
  metadata,
  last_payment_error: z.object({ decline_code: word, code: word }).nullish(),
  next_action: nextAction,
});

export function readPayment(raw: unknown): Reading<ProviderPayment> {
  return read(paymentShape, raw, (found) => {
    const declineCode = found.last_payment_error?.decline_code ?? found.last_payment_error?.code;
    return {
      paymentId: found.id,
      status: found.status,
      amountMinor: found.amount,
      amountReceivedMinor: found.amount_received,
      currency: found.currency,
      livemode: found.livemode,
      createdS: found.created,
      metadata: found.metadata,
      ...(declineCode !== undefined && { declineCode }),
      ...(found.next_action !== undefined && { voucher: found.next_action }),
    };
  });
}

/** An unknown status stays pending: the amount is held, and nothing is booked or released. */
const REFUND_STATUS: ReadonlyMap<string, ProviderRefund['status']> = new Map([
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
]);

const refundShape = z.object({
  object: z.literal('refund'),
  id: providerId,
  payment_intent: reference.nullish(),
  status: z.string().nullish(),
  amount: amountMinor,
  currency: currencyCode,
  created: epochS,
  failure_reason: word,
  metadata,
});

/** One without a payment intent is of a charge that no session of ours made. */
export function readRefund(raw: unknown): Reading<ProviderRefund> {
  return read(refundShape, raw, (found) =>
    typeof found.payment_intent === 'string'
      ? {
          providerRefundId: found.id,
          paymentId: found.payment_intent,
          status: REFUND_STATUS.get(found.status ?? '') ?? 'pending',
          amountMinor: found.amount,
          currency: found.currency,
          createdS: found.created,
          metadata: found.metadata,
          ...(found.failure_reason !== undefined && { failureReason: found.failure_reason }),
        }
      : undefined,
  );
}

/** Any other, an appeal or one that Stripe adds, is open: the money is contested, and nothing is booked for it. */
const DISPUTE_STATUS: ReadonlyMap<string, ProviderDispute['status']> = new Map([
  ['warning_needs_response', 'inquiry'],
  ['warning_under_review', 'inquiry'],
  ['warning_closed', 'cleared'],
  ['prevented', 'cleared'],
  ['lost', 'lost'],
  ['won', 'won'],
]);

const disputeShape = z.object({
  object: z.literal('dispute'),
  id: providerId,
  payment_intent: reference.nullish(),
  status: z.string(),
  amount: amountMinor,
  currency: currencyCode,
  livemode: z.boolean(),
  created: epochS,
});

/** One without a payment intent is of a charge that no session of ours made. */
export function readDispute(raw: unknown): Reading<ProviderDispute> {
  return read(disputeShape, raw, (found) =>
    typeof found.payment_intent === 'string'
      ? {
          disputeId: found.id,
          paymentId: found.payment_intent,
          status: DISPUTE_STATUS.get(found.status) ?? 'open',
          amountMinor: found.amount,
          currency: found.currency,
          livemode: found.livemode,
          createdS: found.created,
        }
      : undefined,
  );
}
