import type Stripe from 'stripe';
import { z } from 'zod';
import { paidCharge } from './charges.ts';
import { requireWholeAmount } from './currencies.ts';
import { blocksRefunds } from './disputes.ts';
import { invalidRequest, referenceMissing, resourceMissing } from '../api/errors.ts';
import { expand, integer, listing, metadata } from '../api/parameters.ts';
import { referencedPaymentIntent } from './payment-intents.ts';
import type { FirstRefundStatus } from './refund-rules.ts';
import { takeRefundRule } from './refund-rules.ts';
import type { Simulation } from '../simulation.ts';

type Names<Params> = Partial<Record<keyof Params, z.ZodType>>;

export const refundCreation = z.strictObject({
  amount: integer.pipe(z.number().min(1)).optional(),
  charge: z.string().optional(),
  expand,
  instructions_email: z.email().optional(),
  metadata: metadata.default({}),
  payment_intent: z.string().optional(),
  reason: z.enum(['duplicate', 'fraudulent', 'requested_by_customer']).optional(),
} satisfies Names<Stripe.RefundCreateParams>);

export const refundListing = z.strictObject({
  ...listing,
  charge: z.string().optional(),
  payment_intent: z.string().optional(),
} satisfies Names<Stripe.RefundListParams>);

export interface RefundRequest {
  readonly amount?: number | undefined;
  readonly charge?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly payment_intent?: string | undefined;
  readonly reason?: string | undefined;
}

export type SettledRefundStatus = 'succeeded' | 'failed' | 'canceled';

const EMAILED_FOR_S = 45 * 24 * 60 * 60;

export function checkRefundCreation(input: RefundRequest): void {
  if (input.charge === undefined && input.payment_intent === undefined) {
    throw invalidRequest(
      'One of the following params should be provided for this request: payment_intent or charge.',
    );
  }
}

/**
 * Refunds a charge, in full unless an amount is given. A card's refund succeeds at once, a konbini's waits for the
 * customer's bank details (`requires_action`), unless a rule or `status` says otherwise.
 * Throws Stripe's refusal when nothing was paid, all is refunded, the amount is too much, or a dispute forbids it.
 */
export function createRefund(
  simulation: Simulation,
  input: RefundRequest,
  status?: FirstRefundStatus,
): Stripe.Refund {
  const charge = chargeToRefund(simulation, input);
  const unrefunded = charge.amount - charge.amount_refunded;
  if (blocksRefunds(simulation, charge.id)) {
    throw invalidRequest(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
      code: 'charge_disputed',
    });
  }
  if (unrefunded === 0) {
    throw invalidRequest(`Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
    });
  }
  const amount = input.amount ?? unrefunded;
  requireWholeAmount(amount, charge.currency, 'amount');
  if (amount > unrefunded) {
    throw invalidRequest(
      `Refund amount (${String(amount)} ${charge.currency}) is greater than unrefunded amount on charge (${String(unrefunded)} ${charge.currency})`,
      { param: 'amount' },
    );
  }
  const first = status ?? takeRefundRule(simulation.refundRules) ?? usualStatus(charge);
  const refund = buildRefund(simulation, charge, { ...input, amount }, first);
  simulation.state.refunds.set(refund.id, refund);
  simulation.emit({ type: 'refund.created', object: refund });
  if (first === 'failed') {
    simulation.emit({ type: 'refund.failed', object: refund });
    return refund;
  }
  const before = structuredClone(charge);
  setRefunded(charge, charge.amount_refunded + amount);
  simulation.emit({ type: 'charge.refunded', object: charge, before });
  return refund;
}

/** Settles a refund. A waiting one may end any way; one that had succeeded may still fail, as banks do. */
export function settleRefund(
  simulation: Simulation,
  id: string,
  status: SettledRefundStatus,
  failureReason = 'lost_or_stolen_card',
): Stripe.Refund {
  const refund = requireRefund(simulation, id);
  const waiting = refund.status === 'pending' || refund.status === 'requires_action';
  if (!waiting && !(refund.status === 'succeeded' && status === 'failed')) {
    throw invalidRequest(`This refund can't become ${status}: it is ${String(refund.status)}.`);
  }
  const before = structuredClone(refund);
  refund.status = status;
  delete refund.pending_reason;
  delete refund.next_action;
  if (status !== 'succeeded') {
    refund.failure_reason = status === 'failed' ? failureReason : 'merchant_request';
    if (status === 'failed') refund.failure_balance_transaction = simulation.newId('txn');
    returnRefunded(simulation, refund);
  }
  simulation.emit({ type: 'refund.updated', object: refund, before });
  simulation.emit({ type: 'charge.refund.updated', object: refund, before });
  if (status === 'failed') simulation.emit({ type: 'refund.failed', object: refund, before });
  return refund;
}

export function requireRefund(simulation: Simulation, id: string): Stripe.Refund {
  const refund = simulation.state.refunds.get(id);
  if (refund === undefined) throw resourceMissing('refund', id);
  return refund;
}

function chargeToRefund(simulation: Simulation, input: RefundRequest): Stripe.Charge {
  if (input.payment_intent !== undefined) {
    const intent = referencedPaymentIntent(simulation, input.payment_intent);
    const charge = paidCharge(simulation, intent);
    if (charge !== undefined) return charge;
    throw invalidRequest(`This PaymentIntent (${intent.id}) does not have a successful charge to refund.`, {
      code: 'payment_intent_unexpected_state',
      param: 'payment_intent',
    });
  }
  const id = input.charge ?? '';
  const charge = simulation.state.charges.get(id);
  if (charge === undefined) throw referenceMissing('charge', id, 'charge');
  if (charge.paid) return charge;
  throw invalidRequest(`Charge ${id} has not succeeded and cannot be refunded.`, { param: 'charge' });
}

function usualStatus(charge: Stripe.Charge): FirstRefundStatus {
  return charge.payment_method_details?.type === 'konbini' ? 'requires_action' : 'succeeded';
}

function returnRefunded(simulation: Simulation, refund: Stripe.Refund): void {
  const charge = typeof refund.charge === 'string' ? simulation.state.charges.get(refund.charge) : undefined;
  if (charge !== undefined) setRefunded(charge, charge.amount_refunded - refund.amount);
}

function setRefunded(charge: Stripe.Charge, amount: number): void {
  charge.amount_refunded = amount;
  charge.refunded = amount === charge.amount;
}

function buildRefund(
  simulation: Simulation,
  charge: Stripe.Charge,
  input: RefundRequest & { readonly amount: number },
  status: FirstRefundStatus,
): Stripe.Refund {
  const nowS = simulation.nowS();
  return {
    id: simulation.newId('re'),
    object: 'refund',
    amount: input.amount,
    balance_transaction: status === 'failed' ? null : simulation.newId('txn'),
    charge: charge.id,
    created: nowS,
    currency: charge.currency,
    customer: null,
    customer_account: null,
    metadata: { ...input.metadata },
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason: input.reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status,
    transfer_reversal: null,
    ...(status === 'failed' ? { failure_reason: 'unknown' } : {}),
    ...(status === 'pending' ? { pending_reason: 'processing' } : {}),
    ...(status === 'requires_action'
      ? {
          next_action: {
            type: 'display_details',
            display_details: {
              email_sent: { email_sent_at: nowS, email_sent_to: charge.billing_details.email ?? '' },
              expires_at: nowS + EMAILED_FOR_S,
            },
          },
        }
      : {}),
  };
}
