import { z } from 'zod';
import { defined } from '../../ledger/kernel/defined.ts';
import type {
  ProviderDispute,
  ProviderPayment,
  ProviderRefund,
  ProviderSession,
  RefundedAmount,
} from '../port.ts';
import {
  amountMinor,
  currencyCode,
  epochSeconds,
  metadata,
  orAbsent,
  pageUrl,
  providerId,
  type Reader,
  readerOf,
  reference,
  unreadable,
  word,
} from './shapes.ts';

/**
 * Stripe's objects in the port's words. Only what is named here is kept (docs/DESIGN.md §8): no customer, no card,
 * no client secret. Fields that Stripe adds are ignored. Statuses that it adds are read as one that moves no money.
 */

const sessionMode = z.object({ object: z.literal('checkout.session'), mode: z.string() });

/** What Stripe's types call nullable may be null: an authentic object is read, whoever made it. */
const readPaymentSession: Reader<ProviderSession> = readerOf(
  z.object({
    id: providerId,
    status: z
      .string()
      .nullish()
      .pipe(z.enum(['open', 'complete', 'expired', 'other']).catch('other')),
    payment_status: z.string().pipe(z.enum(['paid', 'no_payment_required', 'unpaid']).catch('unpaid')),
    url: orAbsent(pageUrl),
    expires_at: epochSeconds,
    created: epochSeconds,
    payment_intent: orAbsent(reference),
    amount_total: amountMinor.nullish(),
    currency: orAbsent(currencyCode),
    livemode: z.boolean(),
    metadata,
  }),
  ({ url, currency, amount_total: amount, ...found }) => ({
    sessionId: found.id,
    status: found.status,
    paymentStatus: found.payment_status,
    expiresAtS: found.expires_at,
    createdS: found.created,
    livemode: found.livemode,
    metadata: found.metadata,
    ...defined({ url, currency, amountMinor: amount ?? undefined, paymentId: found.payment_intent }),
  }),
);

/** We make sessions in payment mode only: subscriptions and set-ups belong to another integration. */
export const readProviderSession: Reader<ProviderSession> = (raw) => {
  const mode = sessionMode.safeParse(raw);
  if (!mode.success) return unreadable(mode.error);
  return mode.data.mode === 'payment' ? readPaymentSession(raw) : { kind: 'FOREIGN' };
};

/** OXXO calls its deadline `expires_after`. Instructions for a bank transfer have none. */
const voucherDetails = z
  .object({
    hosted_voucher_url: pageUrl.nullish(),
    hosted_instructions_url: pageUrl.nullish(),
    expires_at: epochSeconds.nullish(),
    expires_after: epochSeconds.nullish(),
  })
  .nullish()
  .transform((found) => {
    const url = found?.hosted_voucher_url ?? found?.hosted_instructions_url ?? undefined;
    const expiresAtS = found?.expires_at ?? found?.expires_after ?? undefined;
    return url === undefined ? undefined : { url, ...defined({ expiresAtS }) };
  });

/** The actions that give the customer a voucher to pay. Others, such as 3-D Secure, give none. */
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
  // An unreadable voucher must not hide that the payment exists.
  .catch(undefined);

export const readProviderPayment: Reader<ProviderPayment> = readerOf(
  z.object({
    object: z.literal('payment_intent'),
    id: providerId,
    status: z
      .enum(['succeeded', 'processing', 'requires_action', 'requires_payment_method', 'canceled', 'other'])
      .catch('other'),
    amount: amountMinor,
    amount_received: amountMinor,
    currency: currencyCode,
    livemode: z.boolean(),
    created: epochSeconds,
    metadata,
    last_payment_error: z.object({ decline_code: word, code: word }).nullish(),
    next_action: nextAction,
  }),
  ({ last_payment_error: error, ...found }) => ({
    paymentId: found.id,
    status: found.status,
    amountMinor: found.amount,
    amountReceivedMinor: found.amount_received,
    currency: found.currency,
    livemode: found.livemode,
    createdS: found.created,
    metadata: found.metadata,
    ...defined({ declineCode: error?.decline_code ?? error?.code, voucher: found.next_action }),
  }),
);

/** An unknown status stays pending: the amount is reserved, and nothing is recorded or released. */
const REFUND_STATUS: ReadonlyMap<string, ProviderRefund['status']> = new Map([
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
]);

/** FOREIGN without a payment intent: its charge comes from no session of ours. */
export const readProviderRefund: Reader<ProviderRefund> = readerOf(
  z.object({
    object: z.literal('refund'),
    id: providerId,
    payment_intent: orAbsent(reference),
    status: z.string().nullish(),
    amount: amountMinor,
    currency: currencyCode,
    created: epochSeconds,
    failure_reason: word,
    metadata,
  }),
  ({ payment_intent: paymentId, ...found }) =>
    paymentId === undefined
      ? undefined
      : {
          providerRefundId: found.id,
          paymentId,
          status: REFUND_STATUS.get(found.status ?? '') ?? 'pending',
          amountMinor: found.amount,
          currency: found.currency,
          createdS: found.created,
          metadata: found.metadata,
          ...defined({ failureReason: found.failure_reason }),
        },
);

/** Of a payment with its charge: what of it is given back, or about to be. */
export const readRefundedAmount: Reader<RefundedAmount> = readerOf(
  z.object({
    object: z.literal('payment_intent'),
    latest_charge: z.object({
      object: z.literal('charge'),
      amount_refunded: amountMinor,
      currency: currencyCode,
    }),
  }),
  ({ latest_charge: { amount_refunded: amount, currency } }) => ({ amountMinor: amount, currency }),
);

/** Others, such as an appeal or one that Stripe adds, are open: the money is contested, and nothing is recorded for it. */
const DISPUTE_STATUS: ReadonlyMap<string, ProviderDispute['status']> = new Map([
  ['warning_needs_response', 'inquiry'],
  ['warning_under_review', 'inquiry'],
  ['warning_closed', 'cleared'],
  ['prevented', 'cleared'],
  ['lost', 'lost'],
  ['won', 'won'],
]);

/** FOREIGN without a payment intent: its charge comes from no session of ours. */
export const readProviderDispute: Reader<ProviderDispute> = readerOf(
  z.object({
    object: z.literal('dispute'),
    id: providerId,
    payment_intent: orAbsent(reference),
    status: z.string(),
    amount: amountMinor,
    currency: currencyCode,
    livemode: z.boolean(),
    created: epochSeconds,
    reason: word,
    // That nobody can answer it, or that it can't be read when, must not hide that there is a dispute.
    evidence_details: z.object({ due_by: epochSeconds }).optional().catch(undefined),
  }),
  ({ payment_intent: paymentId, ...found }) =>
    paymentId === undefined
      ? undefined
      : {
          disputeId: found.id,
          paymentId,
          status: DISPUTE_STATUS.get(found.status) ?? 'open',
          amountMinor: found.amount,
          currency: found.currency,
          livemode: found.livemode,
          createdS: found.created,
          ...defined({ reason: found.reason, dueByS: found.evidence_details?.due_by }),
        },
);
